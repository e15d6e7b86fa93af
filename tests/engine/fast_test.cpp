// The fast kernels against the plain ones, for every width of vectors that this processor has, on views and odd sizes.
#include <cstring>

#include "tests/engine/fast_kernels.h"

using namespace glass;

namespace {

struct Kernels {
  int bytes;
  Backend* be;
};

std::vector<Kernels> all_kernels() {
  std::vector<Kernels> all;
  for (int bytes : {16, 32, 64})
    if (Backend* be = fast_cpu(bytes)) all.push_back({bytes, be});
  return all;
}

double gap(Mat a, Mat b) {
  double worst = 0;
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) worst = std::max(worst, std::fabs(double(a(i, j)) - double(b(i, j))) / (1 + std::fabs(double(b(i, j)))));
  return worst;
}

const double kClose = sizeof(Real) == 4 ? 2e-5 : 1e-13;

}  // namespace

TEST_CASE("fast products are the plain products") {
  Rng rng(1);
  for (const Kernels& k : all_kernels()) {
    for (int m : {1, 2, 5, 6, 7, 13, 64})
      for (int n : {1, 3, 8, 17, 48, 65, 130})
        for (int inner : {0, 1, 2, 7, 64, 385, 800}) {
          if (m * n * inner > 1000000) continue;
          for (Product p : {Product::NN, Product::NT, Product::TN})
            for (bool accumulate : {false, true}) {
              INFO(k.bytes << " bytes, " << m << " x " << inner << " x " << n << ", product " << int(p) << ", accumulate " << accumulate);
              const Matrix a = p == Product::TN ? normals(inner, m + 3, rng) : normals(m, inner + 3, rng);
              const Matrix b = p == Product::NT ? normals(n, inner + 2, rng) : normals(inner, n + 2, rng);
              const Mat A = p == Product::TN ? a.view().block(0, 2, inner, m) : a.view().block(0, 1, m, inner);
              const Mat B = p == Product::NT ? b.view().block(0, 1, n, inner) : b.view().block(0, 2, inner, n);
              Matrix got = normals(m, n + 1, rng), want = got;
              if (!accumulate)
                for (int i = 0; i < m; ++i)
                  for (int j = 0; j < n; ++j) got(i, j) = Real(NAN);  // what stood there before does no harm
              k.be->matmul(p, A, B, got.view().block(0, 0, m, n), accumulate);
              Matrix plain = want;
              for (int i = 0; i < m; ++i)
                for (int j = 0; j < n; ++j) {
                  double sum = accumulate ? double(want(i, j)) : 0;
                  for (int s = 0; s < inner; ++s)
                    sum += double(p == Product::TN ? A(s, i) : A(i, s)) * double(p == Product::NT ? B(j, s) : B(s, j));
                  plain(i, j) = Real(sum);
                }
              CHECK(gap(got, plain) < kClose * (1 + inner / 100.0));
            }
        }
  }
}

TEST_CASE("a fast product may start from a row") {
  Rng rng(4);
  for (const Kernels& k : all_kernels())
    for (int n : {1, 5, 16, 63, 64, 200})
      for (int inner : {0, 3, 600}) {
        INFO(k.bytes << " bytes, " << n << " columns, inner " << inner);
        const Matrix a = normals(9, inner, rng), b = normals(inner, n, rng), r = normals(1, n, rng);
        Matrix got(Shape{9, n}), want(Shape{9, n});
        k.be->matmul_add_row(a, b, r, got);
        CpuBackend().matmul_add_row(a, b, r, want);
        CHECK(gap(got, want) < 10 * kClose);
      }
}

TEST_CASE("fast products have the same bits for any number of threads") {
  Rng rng(3);
  for (const Kernels& k : all_kernels())
    for (int size : {40, 150, 530}) {
      const Matrix a = normals(size, size + 9, rng), b = normals(size, size + 9, rng);
      const Mat A = a.view().block(0, 0, size, size), B = b.view().block(0, 3, size, size);
      for (Product p : {Product::NN, Product::NT, Product::TN}) {
        set_threads(1);
        Matrix one(Shape{size, size}), many(Shape{size, size});
        k.be->matmul(p, A, B, one, false);
        for (int threads : {2, 3, 8}) {
          set_threads(threads);
          k.be->matmul(p, A, B, many, false);
          INFO(k.bytes << " bytes, " << size << ", product " << int(p) << ", " << threads << " threads");
          CHECK(std::memcmp(one.view().data, many.view().data, sizeof(Real) * std::size_t(size) * std::size_t(size)) == 0);
        }
        set_threads(0);
        double worst = 0;  // a sample of entries against sums in double
        for (int i = 0; i < size; i += 37)
          for (int j = 0; j < size; j += 41) {
            double sum = 0;
            for (int s = 0; s < size; ++s) sum += double(p == Product::TN ? A(s, i) : A(i, s)) * double(p == Product::NT ? B(j, s) : B(s, j));
            worst = std::max(worst, std::fabs(sum - one(i, j)) / (1 + std::fabs(sum)));
          }
        CHECK(worst < 20 * kClose);
      }
    }
}

// Whether Aᵀ is copied depends on how many threads share its rows, and where a block ends decides the order of a sum.
TEST_CASE("fast products of few rows have the same bits for any number of threads, Aᵀ copied or not") {
  Rng rng(5);
  struct Size {
    int m, k, n;
  };
  for (const Kernels& k : all_kernels())
    for (const Size& s : {Size{64, 1100, 256}, Size{96, 900, 150}, Size{200, 1024, 192}, Size{300, 1030, 130}, Size{6, 3000, 200}}) {
      const Matrix a = normals(s.k, s.m, rng), b = normals(s.k, s.n, rng);
      Matrix one(Shape{s.m, s.n}), many(Shape{s.m, s.n});
      for (int threads : {1, 2, 3, 4}) {
        const Threads now(threads);
        k.be->matmul(Product::TN, a, b, threads == 1 ? one : many, false);
        INFO(k.bytes << " bytes, " << s.m << " x " << s.k << " x " << s.n << ", " << threads << " threads");
        if (threads > 1) CHECK(bit_difference(many, one) == "");
      }
    }
}

TEST_CASE("fast softmax is the plain softmax") {
  Rng rng(2);
  for (const Kernels& k : all_kernels()) {
    for (int cols : {1, 2, 3, 15, 16, 17, 65, 200}) {
      INFO(k.bytes << " bytes, " << cols << " columns");
      const Matrix x = normals(7, cols + 2, rng), dy = normals(7, cols, rng);
      const Mat X = x.view().block(0, 1, 7, cols);
      Matrix got(Shape{7, cols}), dx = normals(7, cols, rng), dx_start = dx;
      k.be->softmax_rows(X, got);
      k.be->softmax_rows_backward(got, dy, dx, true);
      for (int i = 0; i < 7; ++i) {
        double sum = 0, dot = 0;
        for (int j = 0; j < cols; ++j) sum += std::exp(double(X(i, j)));
        for (int j = 0; j < cols; ++j) dot += std::exp(double(X(i, j))) / sum * dy(i, j);
        for (int j = 0; j < cols; ++j) {
          const double a = std::exp(double(X(i, j))) / sum;
          CHECK(std::fabs(got(i, j) - a) < kClose);
          CHECK(std::fabs(dx(i, j) - (dx_start(i, j) + a * (dy(i, j) - dot))) < kClose);
        }
      }
    }
  }
}
