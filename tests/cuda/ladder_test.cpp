// Every version of every ladder, and the backend's own products, against loops in double: sizes around the tiles,
// views, rows that are hidden or broken.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/rng.h"
#include "tests/catch.h"

using namespace glass;

static Matrix random(int rows, int cols, Rng& rng) {
  Matrix m(Shape{rows, cols});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m(i, j) = Real(rng.normal());
  return m;
}

// A matrix of the device inside a wider one. `left` = 0 and an even number of columns more may be read by float4.
struct Inside {
  CudaBackend& be;
  Matrix wide;
  Mat view;

  Inside(CudaBackend& b, Mat host, int left, int more)
      : be(b),
        wide(Shape{host.rows + 2, left + host.cols + more}, &b),
        view(wide.view().block(1, left, host.rows, host.cols)) {
    be.fill(wide, 7);
    be.from_host(host, view);
  }
  Matrix back() const {
    Matrix m(view.shape());
    be.to_host(view, m);
    return m;
  }
  bool border_is_untouched() const {
    Matrix all(wide.shape());
    be.to_host(wide, all);
    const int left = int(view.data - wide.view().data) % wide.view().ld;
    for (int i = 0; i < all.rows(); ++i)
      for (int j = 0; j < all.cols(); ++j)
        if ((i < 1 || i > view.rows || j < left || j >= left + view.cols) && all(i, j) != 7) return false;
    return true;
  }
};

// The largest |C - want| against Σ |a b| of its entry.
static double gap(Product form, const Matrix& A, const Matrix& B, const Matrix& C, const Matrix& before,
                  const Matrix& row, int step = 1) {
  const int depth = form == Product::TN ? A.rows() : A.cols();
  double worst = 0;
  for (int i = 0; i < C.rows(); i += step) {
    for (int j = 0; j < C.cols(); j += step) {
      double want = double(before(i, j)) + row(0, j), size = std::fabs(want) + 1e-30;
      for (int k = 0; k < depth; ++k) {
        const double product =
            double(form == Product::TN ? A(k, i) : A(i, k)) * (form == Product::NT ? B(j, k) : B(k, j));
        want += product;
        size += std::fabs(product);
      }
      worst = std::max(worst, std::fabs(C(i, j) - want) / size);
    }
  }
  return worst;
}

static const int kSizes[][3] = {{1, 1, 1},    {3, 5, 2},   {15, 7, 16},  {16, 8, 17},   {31, 9, 33},
                                {32, 16, 32}, {33, 1, 31}, {64, 24, 65}, {63, 33, 130}, {5, 0, 3}};

TEST_CASE("every version of the product is the product, for any sizes and views") {
  CudaBackend be;
  Rng rng(3);
  for (const ProductVersion& v : cuda_matmul_ladder()) {
    for (const auto& s : kSizes) {
      for (int left : {0, 1}) {
        INFO(v.number << " " << v.name << " " << s[0] << " x " << s[1] << " x " << s[2] << ", left " << left);
        const Matrix A = random(s[0], s[1], rng), B = random(s[1], s[2], rng), zero(Shape{s[0], s[2]});
        const int even = 4 * left + 8;
        const Inside a(be, A, left, even - s[1] % 4), b(be, B, left, even - s[2] % 4),
            c(be, zero, left, even - s[2] % 4);
        be.fill(c.view, std::numeric_limits<Real>::quiet_NaN());  // not read
        v.run(a.view, b.view, c.view, be.stream);
        CHECK(gap(Product::NN, A, B, c.back(), zero, Matrix(Shape{1, s[2]})) < 5e-7);
        CHECK(c.border_is_untouched());
      }
    }
  }
}

TEST_CASE("the backend's product in three forms, added to what is there, and with a row") {
  CudaBackend be;
  Rng rng(4);
  for (Product form : {Product::NN, Product::NT, Product::TN}) {
    for (const auto& s : kSizes) {
      for (int left : {0, 1}) {
        INFO(int(form) << ": " << s[0] << " x " << s[1] << " x " << s[2] << ", left " << left);
        const Matrix A = form == Product::TN ? random(s[1], s[0], rng) : random(s[0], s[1], rng);
        const Matrix B = form == Product::NT ? random(s[2], s[1], rng) : random(s[1], s[2], rng);
        const Matrix C = random(s[0], s[2], rng), r = random(1, s[2], rng), zero(C.shape()), no_row(r.shape());
        const Inside a(be, A, left, 12 - A.cols() % 4), b(be, B, left, 12 - B.cols() % 4),
            c(be, C, left, 12 - s[2] % 4);
        be.matmul(form, a.view, b.view, c.view, true);
        CHECK(gap(form, A, B, c.back(), C, no_row) < 5e-7);
        be.fill(c.view, std::numeric_limits<Real>::quiet_NaN());
        be.matmul(form, a.view, b.view, c.view, false);
        CHECK(gap(form, A, B, c.back(), zero, no_row) < 5e-7);
        if (form == Product::NN) {
          const Inside row(be, r, left, 0);
          be.fill(c.view, std::numeric_limits<Real>::quiet_NaN());
          be.matmul_add_row(a.view, b.view, row.view, c.view);
          CHECK(gap(form, A, B, c.back(), zero, r) < 5e-7);
        }
        CHECK(c.border_is_untouched());
      }
    }
  }
}

TEST_CASE("a product large enough for the large tiles") {
  CudaBackend be;
  Rng rng(5);
  for (Product form : {Product::NN, Product::NT, Product::TN}) {
    const int M = 900, K = 9, N = 897;  // 8 x 8 tiles of 128 x 128
    const Matrix A = form == Product::TN ? random(K, M, rng) : random(M, K, rng);
    const Matrix B = form == Product::NT ? random(N, K, rng) : random(K, N, rng), zero(Shape{M, N});
    const Inside a(be, A, 0, 12 - A.cols() % 4), b(be, B, 0, 12 - B.cols() % 4), c(be, zero, 0, 3);
    be.matmul(form, a.view, b.view, c.view, false);
    CHECK(gap(form, A, B, c.back(), zero, Matrix(Shape{1, N}), 7) < 5e-7);
    CHECK(c.border_is_untouched());
  }
}

static double softmax_gap(const Matrix& x, const Matrix& y) {  // relative; a NaN where there is none, or none: infinite
  double worst = 0;
  for (int i = 0; i < x.rows(); ++i) {
    double m = -INFINITY, sum = 0;
    bool broken = false;
    for (int j = 0; j < x.cols(); ++j) broken |= !(x(i, j) < INFINITY), m = std::max(m, double(x(i, j)));
    for (int j = 0; j < x.cols(); ++j) sum += std::exp(x(i, j) - m);
    for (int j = 0; j < x.cols(); ++j) {
      if (broken != std::isnan(y(i, j))) return INFINITY;
      if (broken) continue;
      const double want = m == -INFINITY ? 0 : std::exp(x(i, j) - m) / sum;
      worst = std::max(worst, std::fabs(y(i, j) - want) / (want + 1e-12));
    }
  }
  return worst;
}

TEST_CASE("every version of softmax is softmax, also of hidden and broken rows, and in place") {
  CudaBackend be;
  Rng rng(6);
  const Real inf = std::numeric_limits<Real>::infinity();
  for (const SoftmaxVersion& v : cuda_softmax_ladder()) {
    for (int cols : {1, 3, 31, 32, 33, 100, 255, 1023, 1040}) {
      for (int left : {0, 1}) {
        INFO(v.number << " " << v.name << ", " << cols << " columns, left " << left);
        Matrix x = random(7, cols, rng);
        for (int j = 0; j < cols; ++j) {
          x(1, j) = -inf;
          x(2, j) = j == cols - 1 ? 3 : -inf;
          x(3, j) *= 40;
          x(4, j) += 1e4f;
        }
        x(5, cols / 2) = std::numeric_limits<Real>::quiet_NaN();
        x(6, cols - 1) = inf;
        const Inside in(be, x, left, 12 - cols % 4), out(be, Matrix(x.shape()), left, 12 - cols % 4);
        be.fill(out.view, std::numeric_limits<Real>::quiet_NaN());
        v.run(in.view, out.view, be.stream);
        CHECK(softmax_gap(x, out.back()) < 4e-6);
        CHECK(out.border_is_untouched());
        v.run(in.view, in.view, be.stream);
        CHECK(softmax_gap(x, in.back()) < 4e-6);
      }
    }
  }
}
