// The kernels that a backend is asked for directly: no tape, memory taken before.
#include "engine/backend.h"
#include "engine/rng.h"
#include "tests/bench/ours.h"

using namespace glass;

namespace bench {

struct MatmulWork final : ProductWork {
  using ProductWork::ProductWork;
  void once() override {
    const Mat a{A.data, ta ? K : M, ta ? M : K, ta ? M : K}, b{B.data, tb ? N : K, tb ? K : N, tb ? K : N}, c{C.data, M, N, N};
    cpu_backend().matmul(ta ? Product::TN : tb ? Product::NT : Product::NN, a, b, c, false);
  }
};

Matrix numbers(int rows, int cols, unsigned seed) {
  Rng rng(seed);
  Matrix m(Shape{rows, cols});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m(i, j) = Real(rng.normal());
  return m;
}

// x, dy and what comes of them, R x C.
struct Rows : Work {
  Matrix x, y, dy, dx;
  Rows(int R, int C) : x(numbers(R, C, 1)), y(Shape{R, C}), dy(numbers(R, C, 2)), dx(Shape{R, C}) {}
};

struct SoftmaxForwardWork final : Rows {
  using Rows::Rows;
  void once() override { cpu_backend().softmax_rows(x, y); }
};

struct SoftmaxBackwardWork final : Rows {
  SoftmaxBackwardWork(int R, int C) : Rows(R, C) { cpu_backend().softmax_rows(x, y); }
  void once() override { cpu_backend().softmax_rows_backward(y, dy, dx, false); }
};

struct LayerNormWork final : Rows {
  bool both;
  Matrix gain, bias, dgain, dbias, rstd;
  LayerNormWork(int R, int C, bool with_backward)
      : Rows(R, C), both(with_backward), gain(numbers(1, C, 3)), bias(numbers(1, C, 4)), dgain(Shape{1, C}), dbias(Shape{1, C}), rstd(Shape{R, 1}) {}
  void once() override {
    cpu_backend().layer_norm(x, gain, bias, 1e-5, rstd, y);
    if (both) cpu_backend().layer_norm_backward(x, gain, rstd, dy, dx, dgain, dbias, false);
  }
};

struct GeluWork final : Rows {
  using Rows::Rows;
  void once() override {
    cpu_backend().map(Function::gelu_tanh, x, y);
    cpu_backend().map_backward(Function::gelu_tanh, x, y, dy, dx, false);
  }
};

std::unique_ptr<Work> kernel_work(const Request& r) {
  if (r.is("product", 3)) return std::make_unique<MatmulWork>(r);
  if (r.size.size() != 2) return nullptr;
  const int R = r.size[0], C = r.size[1];
  if (r.kind == "softmax_forward") return std::make_unique<SoftmaxForwardWork>(R, C);
  if (r.kind == "softmax_backward") return std::make_unique<SoftmaxBackwardWork>(R, C);
  if (r.kind == "layer_norm_forward") return std::make_unique<LayerNormWork>(R, C, false);
  if (r.kind == "layer_norm") return std::make_unique<LayerNormWork>(R, C, true);
  if (r.kind == "gelu") return std::make_unique<GeluWork>(R, C);
  return nullptr;
}

}  // namespace bench
