// Products, softmax and norms under the watcher: no race and no read of unwritten memory for odd sizes; and what each
// version of the ladders costs, pinned: naive is not coalesced, a transposed store conflicts, the last has no conflict.
#include <limits>

#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/rng.h"
#include "tests/catch.h"
#include "tests/cuda/watcher.h"
#include "tutorials/page/mistakes.h"

using namespace glass;

static Matrix random(CudaBackend& be, int rows, int cols, Rng& rng) {
  Matrix m(Shape{rows, cols}), there(Shape{rows, cols}, &be);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m(i, j) = Real(rng.normal());
  be.from_host(m, there);
  return there;
}

TEST_CASE("the ladder of products: sectors and passes of every version, 64 x 64") {
  CudaBackend be;
  Rng rng(1);
  const Matrix A = random(be, 64, 64, rng), B = random(be, 64, 64, rng), C(Shape{64, 64}, &be);
  const auto run = [&](int number) {
    cuda_on_cpu::forget_accesses();
    cuda_matmul_ladder()[std::size_t(number - 1)].run(A, B, C, be.stream);
  };
  // 8 warps in each of 16 blocks, 64 steps: a warp is 2 x 16 threads
  run(1);
  CHECK(traffic("a = A(i, k)", false, false).cost == 16 * 8 * 64 * 16);
  CHECK(traffic("b = B(k, j)", false, false).cost == 16 * 8 * 64 * 1);
  CHECK(traffic("C(i, j) = sum", false, true).cost == 16 * 8 * 16);
  run(2);
  CHECK(traffic("a = A(i, k)", false, false).cost == 16 * 8 * 64 * 2);
  CHECK(traffic("b = B(k, j)", false, false).cost == 16 * 8 * 64 * 2);
  CHECK(traffic("C(i, j) = sum", false, true).cost == 16 * 8 * 4);
  run(3);
  CHECK(traffic("a[y][x] =", false, false).cost == 16 * 8 * 4 * 4);
  CHECK(slow_lines() == "");
  run(4);
  CHECK(traffic("a[e % BK][e / BK]", true, true).requests == 128);
  CHECK(traffic("a[e % BK][e / BK]", true, true).cost == 8 * 128);
  CHECK(traffic("w[e] = b[k][c + e]", true, false).cost == 2 * traffic("w[e] = b[k][c + e]", true, false).requests);
  run(5);
  CHECK(traffic("a[k][m] = v.x", true, true).requests == 32);
  CHECK(traffic("a[k][m] = v.x", true, true).cost == 2 * 32);
  run(6);
  CHECK(traffic("tile[k][m] = v.x", true, true).requests == 72);
  CHECK(slow_lines() == "");
}

TEST_CASE("the backend's product has no conflict and no sector in part, in three forms and in large tiles") {
  CudaBackend be;
  Rng rng(2);
  const Matrix A = random(be, 64, 64, rng), B = random(be, 64, 64, rng), C(Shape{64, 64}, &be);
  for (Product form : {Product::NN, Product::NT, Product::TN}) {
    cuda_on_cpu::forget_accesses();
    be.matmul(form, A, B, C, true);
    CHECK(slow_lines() == "");
  }
  const Matrix tall = random(be, 1024, 8, rng), wide = random(be, 8, 1024, rng), large(Shape{1024, 1024}, &be);
  cuda_on_cpu::forget_accesses();
  be.matmul(Product::NN, tall, wide, large, false);
  CHECK(slow_lines() == "");
}

TEST_CASE("the ladder of softmax: sectors of every version, 64 x 64") {
  CudaBackend be;
  Rng rng(3);
  const Matrix x = random(be, 64, 64, rng), y(x.shape(), &be);
  const unsigned long sectors[] = {4 * 64 * 64, 4 * 64 * 8, 3 * 64 * 8, 3 * 64 * 8};
  for (const SoftmaxVersion& v : cuda_softmax_ladder()) {
    cuda_on_cpu::forget_accesses();
    v.run(x, y, be.stream);
    CHECK(traffic("", false, false).cost + traffic("", false, true).cost == sectors[v.number - 1]);
    CHECK((slow_lines() == "") == (v.number > 1));
  }
}

TEST_CASE("layer norm by warps reads whole sectors, by threads it does not; two passes, too") {
  CudaBackend be;
  Rng rng(4);
  const Matrix x = random(be, 64, 64, rng), dy = random(be, 64, 64, rng), gain = random(be, 1, 64, rng);
  const Matrix y(x.shape(), &be), r(Shape{64, 1}, &be), dx(x.shape(), &be), dg(gain.shape(), &be),
      db(gain.shape(), &be);
  for (const LayerNormVersion& v : cuda_layer_norm_ladder()) {
    cuda_on_cpu::forget_accesses();
    v.run(x, gain, gain, 1e-5, r, y, be.stream);
    CHECK((slow_lines() == "") == (v.number > 1));
    if (v.number == 2) CHECK(traffic("x.cols; j += 32", false, false).cost >= 3 * 64 * 8);  // x three times
    if (v.number == 3) CHECK(traffic("reinterpret_cast<const float4*>(row)[q]", false, false).cost == 3 * 64 * 8);  // x, gain, bias once
  }
  double* means = static_cast<double*>(be.pool.take(64 * sizeof(double)));
  for (const NormRowsVersion& v : cuda_norm_rows_ladder()) {
    cuda_on_cpu::forget_accesses();
    v.run(x, gain, r, dy, dx, means, false, be.stream);
    CHECK((slow_lines() == "") == (v.number > 1));
    if (v.number == 3) CHECK(traffic("reinterpret_cast<const float4*>(row)[q]", false, false).cost == 3 * 64 * 8);  // x, gain, dy once
  }
  be.pool.give(means);
  cuda_on_cpu::forget_accesses();
  be.layer_norm_backward(x, gain, r, dy, dx, dg, db, true);
  CHECK(slow_lines() == "");
}

TEST_CASE("layer norm of long rows, a block for each, has no race between its two sums") {
  CudaBackend be;
  Rng rng(7);
  const Matrix x = random(be, 2, 520, rng), gain = random(be, 1, 520, rng), y(x.shape(), &be), r(Shape{2, 1}, &be);
  const Matrix dx(x.shape(), &be), dg(gain.shape(), &be), db(gain.shape(), &be);
  cuda_on_cpu::forget_accesses();
  be.layer_norm(x, gain, gain, 1e-5, r, y);
  be.layer_norm_backward(x, gain, r, y, dx, dg, db, true);
  CHECK(traffic("sum += of_warps[w]", true, false).requests > 0);
  CHECK(slow_lines() == "");
}

TEST_CASE("no race and no read of unwritten memory, for odd sizes") {
  CudaBackend be;
  Rng rng(5);
  for (const Shape s : {Shape{1, 1}, Shape{5, 33}, Shape{35, 70}}) {
    const Matrix x = random(be, s.rows, s.cols, rng), y(s, &be), d(s, &be), col(Shape{s.rows, 1}, &be);
    const Matrix row = random(be, 1, s.cols, rng), drow(row.shape(), &be), one(Shape{1, 1}, &be),
                 w = random(be, s.cols, 37, rng);
    const Matrix product(Shape{s.rows, 37}, &be);
    for (const ProductVersion& v : cuda_matmul_ladder()) v.run(x, w, product, be.stream);
    for (const TensorVersion& v : cuda_tensor_ladder()) {
      v.run(Rounded(x, be.pool, be.stream), Rounded(w, be.pool, be.stream), product, be.stream);
    }
    for (const SoftmaxVersion& v : cuda_softmax_ladder()) v.run(x, y, be.stream);
    be.softmax_rows_backward(y, x, d, true);
    be.log_sum_exp(x, col);
    be.log_sum_exp_backward(x, col, d);
    be.log_softmax_rows(x, y);
    be.log_softmax_rows_backward(y, x, d, true);
    be.layer_norm(x, row, row, 1e-5, col, y);
    be.layer_norm_backward(x, row, col, y, d, drow, drow, true);
    be.rms_norm(x, row, 1e-5, col, y);
    be.rms_norm_backward(x, row, col, y, d, drow, true);
    be.sparsemax_rows(x, true, d, y);
    be.entmax15_rows(x, true, d, y);
    be.weighted_mean_backward(y, x, d);
    be.kl(y, x, col);
    be.kl_backward(y, col, d);
    int* targets = static_cast<int*>(be.pool.take(std::size_t(s.rows) * sizeof(int)));
    const std::vector<int> zeros(std::size_t(s.rows), 0);
    be.upload(zeros.data(), targets, zeros.size() * sizeof(int));
    be.cross_entropy(x, {targets, s.rows}, -1, 0.1, y, one);
    be.cross_entropy_backward(y, {targets, s.rows}, -1, 0.1, one, d, true);
    be.pool.give(targets);
  }
  CHECK(cuda_on_cpu::accesses().size() > 0);
}

TEST_CASE("the planted mistakes are found, and the atomic sum is none") {
  using Catch::Matchers::ContainsSubstring;
  CudaBackend be;
  Rng rng(6);
  const Matrix A = random(be, 32, 32, rng), C(A.shape(), &be), y(Shape{1, 32}, &be);
  CHECK_THROWS_WITH(multiply_without_barrier(A, A, C, be.stream),
                    ContainsSubstring("race on shared memory") && ContainsSubstring("sum += a[y][k] * b[k][x];"));
  CHECK_THROWS_WITH(lose_updates(A, y, be.stream),
                    ContainsSubstring("race on global memory") && ContainsSubstring("block 1"));
  count_updates(A, y, be.stream);
}
