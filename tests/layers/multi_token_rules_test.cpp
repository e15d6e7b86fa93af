// Multi-token attention: what needs no numbers from elsewhere.
#include "layers/attention/multi_token.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("multi-token: only where both letters are near does the score double") {
  Tape tape;
  Matrix S(Shape{12, 12}), twos(Shape{2, 3});
  S(10, 1) = S(10, 8) = S(11, 2) = S(11, 5) = 1;
  tape.be.fill(twos, 2);
  const Var C = conv2d_causal(tape.input(S, "S"), tape.input(twos, "w"));
  CHECK(bit_difference(C.value().block(11, 0, 1, 12), Matrix{{2, 4, 4, 2, 2, 2, 2, 2, 2, 2, 0, 0}}) == "");
}

TEST_CASE("multi-token: the published number of parameters") {
  long numbers = 0;
  for (int layer = 0; layer < 24; ++layer) {
    ParamStore store;
    Rng rng(1);
    const bool conv = layer % 4 == 2;
    MultiToken(store, "", 16, 96, rng, {.scores_kernel = conv, .weights_kernel = conv});
    for (const Param& p : store.all) numbers += long(count(p.value.shape()));
  }
  CHECK(numbers == 29592);
}

TEST_CASE("multi-token: sizes that do not fit are errors") {
  Tape tape;
  Rng rng(1);
  ParamStore store;
  const Var X = tape.input(Matrix(Shape{4, 6}), "X"), Z = tape.input(Matrix(Shape{5, 6}), "Z");
  const Var w = tape.input(Matrix(Shape{3, 3}), "w"), even = tape.input(Matrix(Shape{2, 4}), "even"),
            H = tape.input(Matrix(Shape{2, 3}), "H");
  CHECK_THROWS_AS(multi_token(X, X, X, {.heads = 2}, {.scores_kernel = w}), ShapeError);
  CHECK_THROWS_AS(multi_token(X, X, X, {.heads = 2}, {.scores_kernel = even}), ShapeError);
  CHECK_THROWS_AS(multi_token(X, X, X, {.heads = 2}, {.weights_mix = H}), ShapeError);
  CHECK_THROWS_AS(multi_token(X, Z, Z, {.heads = 3}, {.scores_kernel = w}), ShapeError);
  CHECK(multi_token(X, Z, Z, {.heads = 2}, {}).shape() == Shape{4, 6});  // nothing looks back: any number of keys
  MultiTokenPast past;
  CHECK_THROWS_AS(multi_token(X, Z, Z, {.heads = 2}, {}, &past), ShapeError);
  CHECK_THROWS_AS(MultiToken(store, "", 4, 2, rng, {.c_k = 4}), ShapeError);
  CHECK_THROWS_AS(MultiToken(store, "", 4, 2, rng, {.c_h = 3}), ShapeError);
  CHECK(store.all.empty());
}

TEST_CASE("multi-token: heads mix within their group only") {
  Tape tape;
  std::vector<Var> X;
  for (const double x : {1, 10, 100, 1000}) X.push_back(tape.input(Matrix{{x}}, "X"));
  const Var H = tape.input(Matrix{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, "H");
  const std::vector<Var> M = mix_heads(X, H);
  const double want[] = {21, 43, 6500, 8700};
  for (std::size_t g = 0; g < 4; ++g) CHECK(M[g].value()(0, 0) == Real(want[g]));
}

TEST_CASE("multi-token: two sequences are decoded side by side, each after its own past") {
  Rng rng(4);
  ParamStore store;
  const MultiToken layer(store, "", 2, 3, rng, {.c_q = 3, .c_k = 3});
  for (Param* w : {layer.scores_kernel, layer.weights_kernel}) w->set(random_matrix(w->value.shape(), rng));
  const int n = 4;
  const Matrix q = random_matrix({2 * n, 6}, rng), k = random_matrix({2 * n, 6}, rng),
               v = random_matrix({2 * n, 6}, rng);
  Tape tape;
  const Var Q = tape.constant(q, "Q"), K = tape.constant(k, "K"), V = tape.constant(v, "V");
  const Mask causal = Mask::causal(n, n);
  const Var all = layer(Q, K, V, {.batch = 2, .mask = &causal});
  MultiTokenPast past;
  for (int t = 0; t < n; ++t) {
    const Var q_t[] = {tape.rows(Q, t, 1), tape.rows(Q, n + t, 1)};
    const Var k_t[] = {tape.rows(K, 0, t + 1), tape.rows(K, n, t + 1)},
              v_t[] = {tape.rows(V, 0, t + 1), tape.rows(V, n, t + 1)};
    const Var y = layer(concat_rows(q_t, 2), concat_rows(k_t, 2), concat_rows(v_t, 2), {.batch = 2}, &past);
    for (int b = 0; b < 2; ++b)
      CHECK(difference(y.value().block(b, 0, 1, 6), all.value().block(b * n + t, 0, 1, 6), kRounding) == "");
  }
}
