// Elementwise kernels, broadcasts, reductions and transposes: the CUDA backend against the CPU's plain loops.
#include <cmath>

#include "engine/functions.h"
#include "tests/catch.h"
#include "tests/cuda/twin_rows_problem.h"

using namespace glass;

TEST_CASE("kernels agree with the CPU for every shape, in views, and around a view nothing changes") {
  CudaBackend be;
  for (const TwinCase& c : twin_rows()) {
    for (Shape s : twin_shapes()) {
      for (bool views : {false, true}) CHECK(twin_difference(be, c, s, views) == "");
    }
  }
}

TEST_CASE("kernels agree with the CPU in every order of threads") {
  CudaBackend be;
  for (const char* order : {"reverse", "1", "2"}) {
    const ThreadOrder as(order);
    INFO(order);
    for (const TwinCase& c : twin_rows()) CHECK(twin_difference(be, c, {33, 65}, true) == "");
  }
}

// Every function at ordinary numbers, at kinks and where a float ends.
TEST_CASE("functions of one number have the CPU's values and slopes on the device") {
  const double ends = std::numeric_limits<float>::infinity(), nan = std::nan("");
  const Matrix x{{-2.5, -1, -0.25, -0.0, 0, 0.25, 1, 2.5, 3.75}, {-90, 90, -20, 20, -1e30, 1e30, ends, -ends, nan}};
  const Matrix dy{{1, -2, 0.5, 3, -1, 2, 0.25, -3, 1.5}, {1, -2, 0, 3, -1, 2, 0, 0, 0}};  // 0 hides what a slope is
  CudaBackend be;
  const Matrix x_there = on_device(be, x), dy_there = on_device(be, dy);
  for (int f = int(Function::exp); f <= int(Function::silu); ++f) {
    INFO("function " << f);
    Matrix y(x.shape()), dx = sines(x.shape(), 1, 0.7, 0.3), y_there(x.shape(), &be), dx_there = on_device(be, dx);
    cpu_backend().map(Function(f), x, y);
    cpu_backend().map_backward(Function(f), x, y, dy, dx);
    be.map(Function(f), x_there, y_there);
    be.map_backward(Function(f), x_there, y_there, dy_there, dx_there);
    const Matrix got = to_host(be, y_there), got_slope = to_host(be, dx_there);
    for (int i = 0; i < x.rows(); ++i) {
      for (int j = 0; j < x.cols(); ++j) {
        INFO("at " << x(i, j));
        CHECK((got(i, j) == Approx(y(i, j)) || (std::isnan(got(i, j)) && std::isnan(y(i, j)))));
        CHECK((got_slope(i, j) == Approx(dx(i, j)) || (std::isnan(got_slope(i, j)) && std::isnan(dx(i, j)))));
      }
    }
  }
}

TEST_CASE("a sum on the device is right in double where a float sum is not") {
  CudaBackend be;
  Matrix x(Shape{3, 5000});
  double want = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5000; ++j) want += x(i, j) = j % 2 ? 1e-3f : (j % 4 ? 4e6f : -4e6f);
  const Matrix there = on_device(be, x), y(Shape{1, 1}, &be), rows(Shape{3, 1}, &be), cols(Shape{1, 5000}, &be);
  be.sum(there, 1, y);
  be.add_row_sums(1, there, rows);
  be.add_col_sums(1, there, cols);
  CHECK(to_host(be, y)(0, 0) == Approx(want).epsilon(1e-6));
  CHECK(want == Approx(7.5).epsilon(1e-4));
  CHECK(to_host(be, rows)(2, 0) == Approx(want / 3).epsilon(1e-6));
  CHECK(to_host(be, cols)(0, 4998) == Approx(3 * double(x(0, 4998))));
}

TEST_CASE("sums on the device have the same bits in every order of threads") {
  CudaBackend be;
  Rng rng(5);
  const Matrix x = random_matrix({300, 70}, rng), there = on_device(be, x);
  Matrix first;
  for (const char* order : {"forward", "reverse", "1", "2", "3"}) {
    const ThreadOrder as(order);
    const Matrix y(Shape{1, 1}, &be), row(Shape{1, 70}, &be), col(Shape{300, 1}, &be);
    be.sum(there, 1, y);
    be.add_col_sums(1, there, row);
    be.add_row_sums(1, there, col);
    Matrix all(Shape{1, 371});
    be.to_host(y, all.view().block(0, 0, 1, 1));
    be.to_host(row, all.view().block(0, 1, 1, 70));
    for (int i = 0; i < 300; ++i) be.to_host(col.view().block(i, 0, 1, 1), all.view().block(0, 71 + i, 1, 1));
    if (first.rows() == 0) first = all;
    INFO(order);
    CHECK(bit_difference(all, first) == "");
  }
}
