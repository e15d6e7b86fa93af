// Convolutions and causal sums on CUDA against the CPU's plain loops, in sizes that cross a warp and a block.
#include <array>
#include <memory>

#include "tests/catch.h"
#include "tests/cuda/flash_problem.h"
#include "tests/cuda/twin_problem.h"

using namespace glass;

static const Tolerance kClose{2e-5, 2e-5};  // sums of some hundred numbers, in another order

// y = ... or y += ... on both, from the same numbers; the results must be close.
struct Both {
  CudaBackend be;
  Rng rng{17};

  Matrix chance(int rows, int cols) { return random_matrix({rows, cols}, rng); }
  void check(const char* what, Mat before, void (*run)(Backend&, const Mat*), const std::vector<Matrix>& x) {
    std::vector<Mat> host, device;
    std::vector<std::unique_ptr<Placed>> there;
    Matrix y(before);
    for (const Matrix& m : x) there.push_back(std::make_unique<Placed>(be, m, 1));
    for (std::size_t i = 0; i < x.size(); ++i) host.push_back(x[i]), device.push_back(*there[i]);
    const Placed y_there(be, before, 3);
    host.push_back(y), device.push_back(y_there);
    run(cpu_backend(), host.data());
    for (const char* order : {"forward", "reverse", "5"}) {
      const ThreadOrder as(order);
      be.from_host(before, y_there);
      run(be, device.data());
      INFO(what << ", " << order << ", " << before.rows << " x " << before.cols);
      CHECK(difference(y_there.host(), y, kClose) == "");
    }
  }
};

TEST_CASE("convolutions on CUDA are those of the CPU") {
  Both t;
  const std::array<int, 4> sizes[] = {{1, 1, 1, 1}, {33, 5, 31, 3}, {7, 33, 65, 4}, {130, 3, 2, 9}};
  for (const auto& [n, A, C, K] : sizes) {
    const Matrix X = t.chance(n, A), W = t.chance(K * A, C), dY = t.chance(n, C), Z = t.chance(n, A);
    t.check("conv1d", dY, [](Backend& be, const Mat* v) { be.conv1d(v[0], v[1], 2, v[2]); }, {X, W});
    t.check("conv1d backward x", Z, [](Backend& be, const Mat* v) { be.conv1d_backward_x(v[0], v[1], 2, v[2]); }, {dY, W});
    t.check("conv1d backward w", t.chance(K * A, C), [](Backend& be, const Mat* v) { be.conv1d_backward_w(v[0], v[1], 2, v[2]); }, {X, dY});
    const Matrix w = t.chance(K, A);
    t.check("depthwise", Z, [](Backend& be, const Mat* v) { be.depthwise_conv1d(v[0], v[1], 1, v[2]); }, {X, w});
    t.check("depthwise backward x", Z, [](Backend& be, const Mat* v) { be.depthwise_conv1d_backward_x(v[0], v[1], 1, v[2]); }, {X, w});
    t.check("depthwise backward w", t.chance(K, A), [](Backend& be, const Mat* v) { be.depthwise_conv1d_backward_w(v[0], v[1], 1, v[2]); }, {X, Z});
    const Matrix w2 = t.chance(K, 5);
    t.check("conv2d", Z, [](Backend& be, const Mat* v) { be.conv2d_causal(v[0], v[1], v[2]); }, {X, w2});
    t.check("conv2d backward x", Z, [](Backend& be, const Mat* v) { be.conv2d_causal_backward_x(v[0], v[1], v[2]); }, {X, w2});
    t.check("conv2d backward w", t.chance(K, 5), [](Backend& be, const Mat* v) { be.conv2d_causal_backward_w(v[0], v[1], v[2]); }, {X, t.chance(n, A)});
  }
}

TEST_CASE("causal sums on CUDA are those of the CPU") {
  Both t;
  const std::array<int, 4> sizes[] = {{1, 1, 1, 1}, {9, 5, 33, 2}, {5, 9, 31, 40}, {34, 34, 65, 32}};
  for (const auto& [n, m, D, C] : sizes) {
    const Matrix a = t.chance(n, D), b = t.chance(m, D), V = t.chance(m, C), dY = t.chance(n, C + 1);
    t.check("causal sums", dY, [](Backend& be, const Mat* v) { be.causal_sums(v[0], v[1], v[2], 0, v[3]); }, {a, b, V});
    t.check("causal sums, lagging", dY, [](Backend& be, const Mat* v) { be.causal_sums(v[0], v[1], v[2], 1, v[3]); }, {a, b, V});
    t.check("da", t.chance(n, D), [](Backend& be, const Mat* v) { be.causal_sums_backward(v[0], v[1], v[2], 1, v[3], v[4], {}, {}); }, {a, b, V, dY});
    t.check("db", t.chance(m, D), [](Backend& be, const Mat* v) { be.causal_sums_backward(v[0], v[1], v[2], 1, v[3], {}, v[4], {}); }, {a, b, V, dY});
    t.check("dV", t.chance(m, C), [](Backend& be, const Mat* v) { be.causal_sums_backward(v[0], v[1], v[2], 1, v[3], {}, {}, v[4]); }, {a, b, V, dY});
  }
}
