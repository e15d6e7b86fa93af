// Every version of layer norm and of its sums down columns, and the products on tensor cores, against loops in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/rng.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static Matrix random(int rows, int cols, Rng& rng, double mean = 0) {
  Matrix m(Shape{rows, cols});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m(i, j) = Real(mean + rng.normal());
  return m;
}

static Matrix on(CudaBackend& be, const Matrix& host) {
  Matrix m(host.shape(), &be);
  be.from_host(host, m);
  return m;
}

static Matrix back(CudaBackend& be, const Matrix& there) {
  Matrix m(there.shape());
  be.to_host(there, m);
  return m;
}

constexpr double kEps = 1e-5;

struct Moments {
  double mean = 0, r = 0;
};
static Moments moments(const Matrix& x, int i) {
  Moments m;
  double square = 0;
  for (int j = 0; j < x.cols(); ++j) m.mean += double(x(i, j)) / x.cols();
  for (int j = 0; j < x.cols(); ++j) square += (x(i, j) - m.mean) * (x(i, j) - m.mean) / x.cols();
  m.r = 1 / std::sqrt(square + kEps);
  return m;
}

TEST_CASE("every version of layer norm normalises rows, whatever their mean") {
  CudaBackend be;
  Rng rng(8);
  for (const LayerNormVersion& v : cuda_layer_norm_ladder()) {
    for (const Shape s : {Shape{1, 1}, Shape{5, 31}, Shape{4, 32}, Shape{9, 33}, Shape{130, 70}, Shape{6, 128}, Shape{5, 132}, Shape{3, 260}, Shape{2, 512}, Shape{3, 516},
                          Shape{2, 1100}, Shape{3, 4096}, Shape{2, 4100}}) {
      INFO(v.number << " " << v.name << " " << s.rows << " x " << s.cols);
      const Matrix x = random(s.rows, s.cols, rng, 1000), gain = random(1, s.cols, rng), bias = random(1, s.cols, rng);
      const Matrix y(s, &be), rstd(Shape{s.rows, 1}, &be);
      v.run(on(be, x), on(be, gain), on(be, bias), kEps, rstd, y, be.stream);
      Matrix want(s), want_r(Shape{s.rows, 1});
      for (int i = 0; i < s.rows; ++i) {
        const Moments m = moments(x, i);
        want_r(i, 0) = Real(m.r);
        for (int j = 0; j < s.cols; ++j) want(i, j) = Real((x(i, j) - m.mean) * m.r * gain(0, j) + bias(0, j));
      }
      CHECK(difference(back(be, y), want, kRounding) == "");
      CHECK(difference(back(be, rstd), want_r, kRounding) == "");
    }
  }
}

TEST_CASE("every version of layer norm's dx is the one of loops in double, stored or added, in views too") {
  CudaBackend be;
  Rng rng(11);
  for (const NormRowsVersion& v : cuda_norm_rows_ladder()) {
    for (const Shape s : {Shape{1, 4}, Shape{5, 31}, Shape{9, 36}, Shape{6, 128}, Shape{5, 132}, Shape{3, 260}, Shape{2, 512}, Shape{3, 516},
                          Shape{2, 1100}, Shape{3, 4096}, Shape{2, 4100}}) {
      for (const bool accumulate : {false, true}) {
        INFO(v.number << " " << v.name << " " << s.rows << " x " << s.cols << (accumulate ? " added" : " stored"));
        const Matrix x = random(s.rows, s.cols, rng, 3), gain = random(1, s.cols, rng), dy = random(s.rows, s.cols, rng, 0.5);
        const Matrix before = random(s.rows, s.cols + 4, rng), dx = on(be, before);  // the last four columns are not its own
        Matrix want(before), r(Shape{s.rows, 1}), want_means(Shape{s.rows, 1}), means(Shape{s.rows, 1});
        for (int i = 0; i < s.rows; ++i) {
          const Moments m = moments(x, i);
          r(i, 0) = Real(m.r), want_means(i, 0) = Real(m.mean);
          double mean_u = 0, mean_ux = 0;
          for (int j = 0; j < s.cols; ++j) {
            const double u = double(dy(i, j)) * gain(0, j);
            mean_u += u / s.cols, mean_ux += u * (x(i, j) - m.mean) * m.r / s.cols;
          }
          for (int j = 0; j < s.cols; ++j) {
            const double u = double(dy(i, j)) * gain(0, j), d = m.r * (u - mean_u - (x(i, j) - m.mean) * m.r * mean_ux);
            want(i, j) = Real(accumulate ? before(i, j) + d : d);
          }
        }
        std::vector<double> got(std::size_t(s.rows));
        double* there = static_cast<double*>(be.pool.take(got.size() * sizeof(double)));
        v.run(on(be, x), on(be, gain), on(be, r), on(be, dy), dx.view().block(0, 0, s.rows, s.cols), there, accumulate, be.stream);
        be.stream.wait();
        REQUIRE(cudaMemcpy(got.data(), there, got.size() * sizeof(double), cudaMemcpyDeviceToHost) == cudaSuccess);
        be.pool.give(there);
        for (int i = 0; i < s.rows; ++i) means(i, 0) = Real(got[std::size_t(i)]);
        CHECK(difference(back(be, dx), want, kRounding) == "");
        CHECK(difference(means, want_means, kRounding) == "");
      }
    }
  }
}

struct Sums {
  Matrix gain, bias;
};
static Sums sums_of(const ColumnSumsVersion& v, CudaBackend& be, const Matrix& x, const Matrix& dy, const Matrix& noise) {
  std::vector<double> means;
  Matrix r(Shape{x.rows(), 1});
  for (int i = 0; i < x.rows(); ++i) {
    const Moments m = moments(x, i);
    means.push_back(m.mean);
    r(i, 0) = Real(m.r);
  }
  double* there = static_cast<double*>(be.pool.take(means.size() * sizeof(double)));
  be.upload(means.data(), there, means.size() * sizeof(double));
  const Matrix dgain = on(be, noise), dbias = on(be, noise);
  v.run(on(be, x), there, on(be, r), on(be, dy), dgain, dbias, be.pool, be.stream);
  be.stream.wait();
  be.pool.give(there);
  return {back(be, dgain), back(be, dbias)};
}

TEST_CASE("every version of the sums down columns adds them up, and two passes give the same bits again") {
  CudaBackend be;
  Rng rng(9);
  for (const ColumnSumsVersion& v : cuda_column_sums_ladder()) {
    for (const Shape s : {Shape{1, 1}, Shape{7, 31}, Shape{32, 32}, Shape{33, 33}, Shape{300, 130}}) {
      INFO(v.number << " " << v.name << " " << s.rows << " x " << s.cols);
      const Matrix x = random(s.rows, s.cols, rng, 3), dy = random(s.rows, s.cols, rng, 0.5);
      const Matrix noise = random(1, s.cols, rng);
      const Sums got = sums_of(v, be, x, dy, noise);
      Matrix gain(noise), bias(noise);
      for (int j = 0; j < s.cols; ++j) {
        double g = 0, b = 0;
        for (int i = 0; i < s.rows; ++i) {
          const Moments m = moments(x, i);
          g += dy(i, j) * (x(i, j) - m.mean) * m.r;
          b += dy(i, j);
        }
        gain(0, j) += Real(g);
        bias(0, j) += Real(b);
      }
      const Tolerance sums{1e-4, 1e-5};  // some hundred floats in any order: version 1
      CHECK(difference(got.gain, gain, v.number == 1 ? sums : kRounding) == "");
      CHECK(difference(got.bias, bias, v.number == 1 ? sums : kRounding) == "");
      if (v.number > 1) CHECK(bit_difference(sums_of(v, be, x, dy, noise).gain, got.gain) == "");
    }
  }
}

static float rounded(float f) {  // to bfloat16, ties to even
  std::uint32_t u;
  std::memcpy(&u, &f, 4);
  u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000u;
  std::memcpy(&f, &u, 4);
  return f;
}

TEST_CASE("products on tensor cores are products of the rounded numbers, for any sizes and views") {
  CudaBackend be;
  Rng rng(10);
  for (const TensorVersion& v : cuda_tensor_ladder()) {
    for (const auto& s : {Shape{1, 1}, Shape{64, 31}, Shape{129, 65}, Shape{0, 5}, Shape{5, 0}}) {
      for (int K : {1, 32, 100}) {
        INFO(v.number << " " << v.name << " " << s.rows << " x " << K << " x " << s.cols);
        const Matrix A = random(s.rows, K, rng), B = random(K, s.cols, rng), wide(Shape{s.rows + 1, s.cols + 3}, &be);
        be.fill(wide, 7);
        const Mat C = wide.view().block(1, 2, s.rows, s.cols);
        v.run(Rounded(on(be, A), be.pool, be.stream), Rounded(on(be, B), be.pool, be.stream), C, be.stream);
        const Matrix all = back(be, wide);
        double worst = 0;
        for (int i = 0; i < s.rows; ++i) {
          for (int j = 0; j < s.cols; ++j) {
            double want = 0, size = 1e-30;
            for (int k = 0; k < K; ++k) {
              const double product = double(rounded(A(i, k))) * rounded(B(k, j));
              want += product;
              size += std::fabs(product);
            }
            worst = std::max(worst, std::fabs(all(i + 1, j + 2) - want) / size);
          }
        }
        CHECK(worst < 5e-7);
        CHECK(all(0, 2) == 7);
        CHECK(all(s.rows, 1) == 7);
        CHECK(all(s.rows, s.cols + 2) == 7);
      }
    }
  }
}
