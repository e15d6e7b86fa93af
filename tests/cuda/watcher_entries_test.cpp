// What kernels by entry, reductions and the transpose ask of the memory: every sector is used in full, no bank is asked
// twice. (A race or an unwritten read would throw.)
#include "tests/catch.h"
#include "tests/cuda/twin_problem.h"
#include "tests/cuda/twin_rows_problem.h"
#include "tests/cuda/watcher.h"

using namespace glass;

// Rows of whole sectors, so that nothing is left over at their ends.
static Matrix there(CudaBackend& be, Shape s) {
  Rng rng(std::uint64_t(s.rows));
  return on_device(be, random_matrix(s, rng));
}

TEST_CASE("no kernel by entry, reduction or transpose has a race, whatever the shape") {
  CudaBackend be;
  for (const TwinCase& c : twin_rows()) {
    INFO(c.name);
    CHECK(twin_difference(be, c, {9, 33}, true) == "");
  }
}

TEST_CASE("kernels by entry read and write whole sectors, wide or narrow") {
  CudaBackend be;
  for (Shape s : {Shape{4, 256}, Shape{3, 1024}, Shape{64, 8}, Shape{256, 1}}) {
    const Matrix a = there(be, s), b = there(be, s), y = there(be, s);
    INFO(s.rows << " x " << s.cols);
    cuda_on_cpu::forget_accesses();
    be.add(a, b, y);
    be.map_backward(Function::tanh, a, b, a, y);
    CHECK(slow_lines() == "");
    const unsigned long warps = (unsigned long)(s.rows * s.cols) / 32;
    CHECK(traffic("a(i, j) + b(i, j)", false, false).requests == 2 * warps);
    CHECK(traffic("a(i, j) + b(i, j)", false, false).cost == 2 * warps * 4);
    CHECK(traffic("y(i, first + n * step) = v[n]", false, true).cost == 2 * warps * 4);
  }
}

TEST_CASE("a row is read along with the matrix, a number of a column once for a warp") {
  CudaBackend be;
  const Matrix x = there(be, {8, 128}), r = there(be, {1, 128}), c = there(be, {8, 1}), y = there(be, {8, 128});
  cuda_on_cpu::forget_accesses();
  be.add_row(x, r, y);
  CHECK(slow_lines() == "");
  CHECK(traffic("x(i, j) + r(0, j)", false, false).cost == 2 * 32 * 4);
  cuda_on_cpu::forget_accesses();
  be.add_col(x, c, y);
  CHECK(slow_lines() == "");
  CHECK(traffic("x(i, j) + c(i, 0)", false, false).cost == 32 * (4 + 1));
}

TEST_CASE("sums of all, of rows and of columns read whole sectors, without a bank conflict") {
  CudaBackend be;
  const Matrix x = there(be, {64, 256}), all = there(be, {1, 1}), row = there(be, {1, 256}), col = there(be, {64, 1});
  cuda_on_cpu::forget_accesses();
  be.sum(x, 1, all);
  be.add_col_sums(1, x, row);
  be.add_row_sums(1, x, col);
  CHECK(slow_lines() == "");
  CHECK(traffic("return {x(i, j)}", false, false).cost == 3 * 64 * 256 / 8);
}

TEST_CASE("the transpose reads and writes whole sectors, and its tile has no bank conflict") {
  CudaBackend be;
  const Matrix x = there(be, {64, 96}), y = there(be, {96, 64});
  cuda_on_cpu::forget_accesses();
  be.transpose(x, y);
  CHECK(slow_lines() == "");
  CHECK(traffic("tile[n][tx] = x(", false, false).cost == 64 * 96 / 8);
  CHECK(traffic("tile[n][tx] = x(", true, true).cost == 64 * 96 / 32);
  CHECK(traffic("tile[tx][n]", true, false).cost == 64 * 96 / 32);
  CHECK(traffic("tile[tx][n]", false, true).cost == 64 * 96 / 8);
}
