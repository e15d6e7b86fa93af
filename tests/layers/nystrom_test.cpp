// Nyström attention: by numbers that were computed elsewhere, its exact limit, and where six iterations are not enough.
#include "layers/attention/nystrom.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/efficient_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

static double residual(Tape& tape, int step) {  // ‖B Z − I‖
  const Mat B = tape.find("B").value(), Z = tape.find(("Z " + std::to_string(step)).c_str()).value();
  double sum = 0;
  for (int i = 0; i < B.rows; ++i)
    for (int j = 0; j < B.rows; ++j) {
      double entry = i == j ? -1 : 0;
      for (int k = 0; k < B.rows; ++k) entry += double(B(i, k)) * double(Z(k, j));
      sum += entry * entry;
    }
  return std::sqrt(sum);
}

TEST_CASE("nystrom: an ill-conditioned kernel is not inverted by six iterations") {
  OneHead head(NystromAttention(3), nullptr, 6, 6), dense(plain_attention, nullptr, 6, 6);
  CHECK(difference(head.Y.value().block(0, 0, 1, 3), Matrix{{0.0074431557, -0.0461013861, 0.0309267362}}) == "");
  CHECK(difference(dense.Y.value().block(0, 0, 1, 3), Matrix{{-0.0020077091, -0.0205780024, 0.0191346503}}) == "");
  const double want[] = {1.41, 1.41, 1.41, 1.41, 1.41, 1.39};
  for (int step = 1; step <= 6; ++step) CHECK(residual(head.tape, step) == Approx(want[step - 1]).margin(0.005));
}

TEST_CASE("nystrom: a well-conditioned one is") {
  const Matrix x = sines({6, 4}, 2, 0.4, 2, 0.1);
  OneHead head(x, x, NystromAttention(3)), dense(x, x, plain_attention);
  CHECK(difference(head.Y.value().block(0, 0, 1, 3), Matrix{{0.6555615355, -0.1274128982, -0.5495165864}}) == "");
  CHECK(difference(dense.Y.value().block(0, 0, 1, 3), Matrix{{0.5815352040, -0.0535627153, -0.5369552950}}) == "");
  const double want[] = {0.785, 0.401, 0.0547, 0.000125};
  for (int step = 1; step <= 4; ++step) CHECK(residual(head.tape, step) == Approx(want[step - 1]).epsilon(0.005));
  CHECK(residual(head.tape, 6) < (kDouble ? 1e-14 : 1e-5));
}

TEST_CASE("nystrom: over padding, batches, heads and lengths, with and without the filter") {
  // Seed 17 draws, for two words, a matrix so near to a singular one that differences agree to 0.98e-7 in the plain loops and to 1.01e-7
  // in the fast ones: at the limit of what they see.
  const Grid grid{.seed = 19};
  check_variant(NystromAttention(3), grid);
  check_variant(NystromAttention(2, 3), grid);
  ParamStore store;
  Rng rng(1);
  NystromAttention with_conv(3);
  with_conv.add_conv(store, "", 3, 4, rng);
  check_variant(with_conv, grid);
}

TEST_CASE("nystrom: the tokens as landmarks and the exact inverse give softmax attention") {
  const Matrix q = sines({4, 4}, 2, 0.4, 2, 0.1), k = sines({4, 4}, 2, 1.1, 2, 0.3);
  OneHead head(q, k, NystromAttention(64, 40)), dense(q, k, plain_attention);
  CHECK(residual(head.tape, 40) < (kDouble ? 1e-9 : 1e-2));
  const Tolerance close = kDouble ? Tolerance{1e-9, 1e-9} : Tolerance{1e-2, 1e-2};
  CHECK(difference(head.Y.value(), dense.Y.value(), close) == "");
}

TEST_CASE("nystrom: the filter adds a convolution of the values, one filter for each head") {
  ParamStore store;
  Rng rng(1);
  NystromAttention with_conv(3);
  with_conv.add_conv(store, "", 3, 2, rng);
  store.find("filter")->set(Matrix{{0.5, 7}, {2, 8}, {-1, 9}});
  OneHead with(with_conv, nullptr, 6, 6), without(NystromAttention(3), nullptr, 6, 6);
  const Mat V = with.V.value();
  Matrix want(without.Y.value());
  for (int t = 0; t < 6; ++t)
    for (int c = 0; c < 3; ++c) want(t, c) += (t > 0 ? Real(0.5) * V(t - 1, c) : 0) + 2 * V(t, c) - (t < 5 ? V(t + 1, c) : 0);
  CHECK(difference(with.Y.value(), want, kRounding) == "");
  CHECK(gradient_gap(with.tape, with.Y, with.dY, with.tape.find("filter")).ok());
  const Var second = with_conv(with.Q, with.K, with.V, {.head = 1, .heads = 2});
  CHECK(double(second.value()(0, 0) - without.Y.value()(0, 0)) == Approx(double(8 * V(0, 0) + 9 * V(1, 0))).epsilon(kPrinted.relative));
  CHECK_THROWS_AS(OneHead(with_conv, nullptr, 5, 6), ShapeError);  // values for other positions than the queries'
}

TEST_CASE("nystrom: segments differ by one row at most; too many are an error") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 0}, {2, 0}, {4, 1}, {8, 0}, {16, 3}}, "x");
  CHECK(difference(segment_means(x, 2).value(), Matrix{{1.5, 0}, {28.0 / 3, 4.0 / 3}}, kRounding) == "");
  CHECK_THROWS_AS(segment_means(x, 6), ShapeError);
  CHECK_THROWS_AS(segment_means(x, 0), ShapeError);
  ParamStore store;
  Rng rng(1);
  NystromAttention variant;
  CHECK_THROWS_AS(variant.add_conv(store, "", 4, 1, rng), InputError);
}

TEST_CASE("nystrom: the padding mask reaches F3 and nothing else") {
  const Mask first_four = Mask::visible({true, true, true, true, false, false}, 6);
  OneHead head(NystromAttention(3), &first_four, 6, 6);
  const Mat F3 = head.tape.find("F3").value(), B = head.tape.find("B").value();
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (int j = 0; j < 6; ++j) sum += double(F3(i, j));
    CHECK(sum == Approx(1));
    CHECK(all_zero(F3.block(i, 4, 1, 2)));
    CHECK(B(i, 2) > 0);  // the landmark of two padded keys stays
  }
}
