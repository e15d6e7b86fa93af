// Backward kernels that overwrite a gradient that holds nothing yet, the fast and the plain ones: on memory full of NaN they
// write what they would have added, and nothing beside it.
#include <functional>

#include "tests/engine/fast_kernels.h"

using namespace glass;

namespace {

const double kClose = kDouble ? 1e-13 : 4e-6;

std::vector<Backend*> all_cpu() {
  std::vector<Backend*> all = all_fast();
  all.push_back(&plain_cpu());
  return all;
}

// What run(dx, accumulate) adds to noise, and what it stores over NaN, must be the same.
void check_store(int rows, int cols, const std::function<void(Mat dx, bool accumulate)>& run) {
  Rng rng(4);
  View added(rows, cols, rng), stored(rows, cols, rng);
  const Matrix noise(added.mat), around = stored.all;
  plain_cpu().fill(stored.mat, kNaN);
  run(added.mat, true);
  run(stored.mat, false);
  Matrix sum(noise.view());
  plain_cpu().add_scaled(1, stored.mat, sum);
  CHECK(unlike(added.mat, sum, kClose) == "");
  for (int i = 0; i < rows; ++i) CHECK((stored.all(i, 0) == around(i, 0) && stored.all(i, cols + 1) == around(i, cols + 1)));
}

}  // namespace

TEST_CASE("functions, softmax and losses store the gradient where nothing stands yet") {
  Rng rng(1);
  for (Backend* be : all_cpu()) {
    for (int cols : {1, 5, 33, 64, 200}) {
      INFO(be->name() << ", " << cols << " columns");
      const int rows = 7;
      View x(rows, cols, rng), dy(rows, cols, rng), y(rows, cols, rng);
      dy.mat(0, 0) = 0;
      for (Function f : {Function::exp, Function::gelu, Function::gelu_tanh, Function::relu, Function::sin}) {
        be->map(f, x.mat, y.mat);
        check_store(rows, cols, [&](Mat dx, bool accumulate) { be->map_backward(f, x.mat, y.mat, dy.mat, dx, accumulate); });
      }
      for (int j = 0; j < cols; ++j) x.mat(2, j) = -kInf;  // a row that sees nothing sends nothing
      be->softmax_rows(x.mat, y.mat);
      check_store(rows, cols, [&](Mat dx, bool accumulate) { be->softmax_rows_backward(y.mat, dy.mat, dx, accumulate); });
      std::vector<int> targets;
      for (int i = 0; i < rows; ++i) targets.push_back(i % 3 == 1 ? -1 : i % cols);  // -1 does not count
      const Matrix dloss{{0.7}};
      check_store(rows, cols, [&](Mat dx, bool accumulate) { be->cross_entropy_backward(y.mat, {targets.data(), rows}, -1, 0.1, dloss, dx, accumulate); });
      be->log_softmax_rows(x.mat, y.mat);
      check_store(rows, cols, [&](Mat dx, bool accumulate) { be->log_softmax_rows_backward(y.mat, dy.mat, dx, accumulate); });
    }
  }
}

TEST_CASE("norms store the gradient of x where nothing stands yet, and add to those of gain and bias") {
  Rng rng(2);
  for (Backend* be : all_cpu()) {
    for (int cols : {1, 5, 33, 64, 200}) {
      INFO(be->name() << ", " << cols << " columns");
      const int rows = 70;
      View x(rows, cols, rng), dy(rows, cols, rng);
      for (int j = 0; j < cols; ++j) x.mat(5, j) *= Real(1e-20);  // not for float
      const Matrix gain = normals(1, cols, rng), bias = normals(1, cols, rng);
      Matrix r(Shape{rows, 1}), y(Shape{rows, cols});
      std::vector<Matrix> dgains, dbiases;
      be->layer_norm(x.mat, gain, bias, 1e-5, r, y);
      check_store(rows, cols, [&](Mat dx, bool accumulate) {
        dgains.push_back(bias), dbiases.push_back(gain);
        be->layer_norm_backward(x.mat, gain, r, dy.mat, dx, dgains.back(), dbiases.back(), accumulate);
      });
      CHECK(bit_difference(dgains[0], dgains[1]) == "");
      CHECK(bit_difference(dbiases[0], dbiases[1]) == "");
      be->rms_norm(x.mat, gain, 1e-5, r, y);
      check_store(rows, cols, [&](Mat dx, bool accumulate) {
        dgains.push_back(bias);
        be->rms_norm_backward(x.mat, gain, r, dy.mat, dx, dgains.back(), accumulate);
      });
      CHECK(bit_difference(dgains[2], dgains[3]) == "");
    }
  }
}

TEST_CASE("flash attention stores each of its gradients where nothing stands yet") {
  Rng rng(3);
  const int batch = 2, heads = 4, kv_heads = 2, n = 100, m = 230, d = 8, d_v = 5;
  const Matrix Q = normals(batch * n, heads * d, rng), K = normals(batch * m, kv_heads * d, rng), dY = normals(batch * n, heads * d_v, rng);
  for (Backend* be : all_cpu()) {
    for (bool finite : {true, false}) {  // a NaN among pairs that are hidden: the plain kernel, head by head
      for (bool causal : {false, true}) {
        INFO(be->name() << (finite ? "" : ", not finite") << (causal ? ", causal" : ""));
        Matrix V = normals(batch * m, kv_heads * d_v, rng);
        if (!finite) V(m - 1, 2) = kNaN;
        Tiling t;
        t.causal = causal, t.batch = batch, t.heads = heads, t.kv_heads = kv_heads;
        Matrix S(Shape{32, 32}), state(Shape{32, 2}), counts(Shape{1, 2}), Y(Shape{batch * n, heads * d_v}), L(Shape{batch * n, heads}), D(L);
        be->flash_attention(Q, K, V, Real(0.3), t, S, state, Y, L, counts);
        const auto run = [&](int which, Mat dx, bool accumulate) {
          Mat dQKV[3] = {};
          bool adds[] = {true, true, true};
          dQKV[which] = dx, adds[which] = accumulate;
          be->flash_attention_backward(Q, K, V, Real(0.3), t, Y, L, dY, {}, D, S, dQKV[0], dQKV[1], dQKV[2], adds);
        };
        check_store(batch * n, heads * d, [&](Mat dQ, bool accumulate) { run(0, dQ, accumulate); });
        check_store(batch * m, kv_heads * d, [&](Mat dK, bool accumulate) { run(1, dK, accumulate); });
        check_store(batch * m, kv_heads * d_v, [&](Mat dV, bool accumulate) { run(2, dV, accumulate); });
      }
    }
  }
}
