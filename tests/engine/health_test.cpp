// The report about attention and gradients.
#include "engine/health.h"

#include <cmath>

#include "engine/ops.h"
#include "engine/params.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("E15 the entropy of a row of weights, with 0 ln 0 = 0") {
  const Matrix A{{1, 0, 0, 0}, {0.25, 0.25, 0.25, 0.25}, {0.5, 0.5, 0, 0}};
  CHECK(row_entropy(A, 0) == 0);
  CHECK(row_entropy(A, 1) == Approx(1.386294361).epsilon(1e-9));
  CHECK(row_entropy(A, 2) == Approx(0.6931471806).epsilon(1e-9));
}

TEST_CASE("health: heads by hand; a row that sees nothing does not count, hidden scores neither") {
  Tape tape;
  const double inf = INFINITY;
  softmax(tape.input(Matrix{{0, 0, -inf, -inf}, {20, 0, 0, -inf}, {-inf, -inf, -inf, -inf}, {0, 0, -30, 0}}, "E"));
  const std::vector<HeadHealth> heads = head_health(tape);
  REQUIRE(heads.size() == 1);
  CHECK(heads[0].line == 1);
  CHECK(heads[0].largest_score == 30);
  CHECK(heads[0].saturated == Approx(1.0 / 3));
  CHECK(heads[0].entropy == Approx((std::log(2.0) + 0 + std::log(3.0)) / 3).epsilon(1e-5));
  CHECK(heads[0].even == Approx((std::log(2.0) + std::log(3.0) + std::log(4.0)) / 3));
}

TEST_CASE("health: attention in one line has the weights of the steps, without its scores") {
  Rng rng(1);
  const Matrix q = random_matrix({4, 3}, rng), k = random_matrix({5, 3}, rng), v = random_matrix({5, 2}, rng);
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  softmax(scale(matmul_nt(Q, K), 0.5));
  attention(Q, K, V, 0.5);
  const std::vector<HeadHealth> heads = head_health(tape);
  REQUIRE(heads.size() == 2);
  CHECK(heads[0].entropy == Approx(heads[1].entropy).epsilon(1e-5));
  CHECK(std::isnan(heads[1].largest_score));
}

TEST_CASE("health: gradients are joined by layer, each parameter once") {
  ParamStore store;
  Rng rng(2);
  Param &a = store.make("a", {1, 2}, Init::ones, rng), &b = store.make("b", {1, 1}, Init::ones, rng), &c = store.make("c", {1, 2}, Init::ones, rng);
  Tape tape;
  CHECK(layer_gradients(tape).empty());
  Var y;
  {
    const Scope layer(tape, "layer 0");
    const Scope head(tape, "head 1");
    y = add(scale(tape.use(a), 3), scale(tape.use(a), 1));
    y = mul_scalar(y, tape.use(b));
  }
  tape.backward(sum(add(y, scale(tape.use(c), 5))));
  const std::vector<LayerGradient> layers = layer_gradients(tape);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].layer == "layer 0");
  CHECK(layers[0].norm == Approx(std::sqrt(4.0 * 4 + 4 * 4 + 8 * 8)));
  CHECK(layers[0].entries == 3);
  CHECK(layers[1].layer == "c");
  CHECK(layers[1].norm == Approx(std::sqrt(50.0)));
}
