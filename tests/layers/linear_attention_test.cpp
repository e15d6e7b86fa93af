// Linear attention: by numbers that were computed elsewhere, as pairs, as sums and token by token.
#include "layers/attention/linear_attention.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/efficient_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

static const LinearAttention by_pairs(LinearForm::quadratic), by_sums(LinearForm::sums);

TEST_CASE("linear attention: to ten digits, without a mask and causal, in both forms") {
  const Mask causal = Mask::causal(5, 5);
  for (const LinearAttention* variant : {&by_pairs, &by_sums}) {
    CAPTURE(int(variant->form));
    OneHead all(*variant), past(*variant, &causal);
    CHECK(difference(all.Y.value(), Matrix{{0.1031404696, -0.1565474183, 0.0271529562},
                                           {0.1117600816, -0.1749405486, 0.0338418302},
                                           {0.1123584456, -0.1687364391, 0.0280798251},
                                           {0.0982580444, -0.1571471413, 0.0325345270},
                                           {0.1216278805, -0.1813061515, 0.0292720822}}) == "");
    all.check_fingerprints(-0.0968787443372, -0.000259461160996, -0.00789671849372);
    CHECK(difference(past.Y.value(), Matrix{{0.4794254651, 0.5984720523, -0.9775299677},
                                            {0.7335382756, 0.1328627712, -0.8441191195},
                                            {0.7500014300, -0.2087587572, -0.5762528372},
                                            {0.3905882617, -0.2583054684, -0.1756022547},
                                            {0.1216278805, -0.1813061515, 0.0292720822}}) == "");
    past.check_fingerprints(-0.15433315743, 0.182343912969, 0.294415356991);
    CHECK(difference(past.Y.value().block(4, 0, 1, 3), all.Y.value().block(4, 0, 1, 3), kRounding) == "");  // it sees all
  }
}

TEST_CASE("linear attention: pairs and sums over masks, batches, heads and lengths") {
  check_variant(by_pairs);
  check_variant(by_sums);
}

TEST_CASE("linear attention: sums are the pairs, value and gradients, also with fewer queries than keys and padding") {
  for (const int n : {2, 5}) {
    const Mask causal = Mask::causal(n, 5) & Mask::visible({true, true, false, true, true}, n);
    OneHead pairs(by_pairs, &causal, n), sums(by_sums, &causal, n);
    CHECK(difference(sums.Y.value(), pairs.Y.value(), kRounding) == "");
    CHECK(difference(sums.Q.grad(), pairs.Q.grad(), kRounding) == "");
    CHECK(difference(sums.K.grad(), pairs.K.grad(), kRounding) == "");
    CHECK(difference(sums.V.grad(), pairs.V.grad(), kRounding) == "");
    CHECK(all_zero(sums.K.grad().block(2, 0, 1, 4)));
  }
}

TEST_CASE("linear attention: the sums never make a matrix of queries and keys, nor the state of each step") {
  const Mask causal = Mask::causal(5, 5);
  OneHead past(by_sums, &causal);
  for (const Node& line : past.tape.nodes) CHECK_FALSE((line.value.rows == 5 && line.value.cols == 5));
  CHECK(past.tape.find("sums").shape() == Shape{5, 4});
}

TEST_CASE("linear attention: token by token, the state gives the causal rows and their gradients") {
  const Mask causal = Mask::causal(5, 5);
  OneHead past(by_pairs, &causal);
  Tape tape;
  const Var Q = tape.input(past.Q.value(), "Q"), K = tape.input(past.K.value(), "K"), V = tape.input(past.V.value(), "V");
  LinearState state(tape, 4, 3);
  std::vector<Var> rows;
  for (int t = 0; t < 5; ++t) rows.push_back(state(tape.rows(Q, t, 1), tape.rows(K, t, 1), tape.rows(V, t, 1)));
  CHECK(state.S.shape() == Shape{4, 3});
  CHECK(state.z.shape() == Shape{1, 4});
  const Var Y = concat_rows(rows.data(), 5);
  tape.backward(Y, past.dY);
  CHECK(difference(Y.value(), past.Y.value(), kRounding) == "");
  CHECK(difference(Q.grad(), past.Q.grad(), kRounding) == "");
  CHECK(difference(K.grad(), past.K.grad(), kRounding) == "");
  CHECK(difference(V.grad(), past.V.grad(), kRounding) == "");
}

TEST_CASE("linear attention: only the pairs have weights, and only they can hide single pairs") {
  const Matrix q = sines({4, 4}, 1, 3, 1), k = cosines({4, 4}, 1, 2, -1), v = sines({4, 3}, 1, 1, 2, 0.5);
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  std::vector<Var> weights;
  const Var Y = by_pairs(Q, K, V, {.weights = &weights});
  REQUIRE(weights.size() == 1);
  CHECK(difference(matmul(weights[0], V).value(), Y.value(), kRounding) == "");
  CHECK_THROWS_AS(by_sums(Q, K, V, {.weights = &weights}), ShapeError);
  Mask one_hidden(4, 4);
  one_hidden.set(1, 2, false);
  CHECK_THROWS_AS(by_sums(Q, K, V, {.allowed = &one_hidden}), ShapeError);
  CHECK(by_pairs(Q, K, V, {.allowed = &one_hidden, .weights = &weights}).shape() == Shape{4, 3});
  CHECK(weights[1].value()(1, 2) == 0);
}

TEST_CASE("linear attention: padded keys count as if they were not there") {
  const Mask first_three = Mask::visible({true, true, true, false, false}, 5);
  for (const LinearAttention* variant : {&by_pairs, &by_sums}) {
    CHECK(difference(OneHead(*variant, &first_three).Y.value(), OneHead(*variant, nullptr, 5, 3).Y.value(), kRounding) == "");
  }
}
