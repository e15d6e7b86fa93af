// The fast kernels of rows (softmax, norms, losses) against the plain ones: on views, odd widths, rows that are none, and with
// the same bits for any number of threads.
#include "tests/engine/fast_kernels.h"

using namespace glass;

namespace {

const double kClose = kDouble ? 1e-13 : 4e-6;
const int kWidths[] = {1, 2, 3, 15, 16, 17, 33, 65, 200, 1500};

void fill_row(Mat m, int i, Real value) {
  for (int j = 0; j < m.cols; ++j) m(i, j) = value;
}

// Rows that say something: hidden, partly hidden, with a NaN, with +inf, far from 0, and only NaN and -inf.
void make_special(Mat x) {
  fill_row(x, 0, -kInf);
  for (int j = 1; j < x.cols; j += 2) x(1, j) = -kInf;
  x(2, x.cols / 2) = kNaN;
  x(3, x.cols - 1) = kInf;
  for (int j = 0; j < x.cols; ++j) x(4, j) += Real(1e4);
  fill_row(x, 5, -kInf);
  x(5, x.cols - 1) = kNaN;
  for (int j = 0; j < x.cols; ++j) x(6, j) *= 100;
}

}  // namespace

TEST_CASE("fast softmax, log-softmax and log-sum-exp are the plain ones, also for hidden and wrong rows") {
  Rng rng(11);
  for (Backend* be : all_fast()) {
    for (int cols : kWidths) {
      INFO(cols << " columns");
      const int rows = 9;
      View x(rows, cols, rng), dy(rows, cols, rng), y(rows, cols, rng), dx(rows, cols, rng), l(rows, 1, rng), dl(rows, 1, rng);
      make_special(x.mat);
      Matrix want(x.mat.shape()), want_dx(dx.mat), want_l(Shape{rows, 1});
      be->softmax_rows(x.mat, y.mat);
      plain_cpu().softmax_rows(x.mat, want);
      CHECK(unlike(y.mat, want, kClose) == "");
      for (int j = 0; j < cols; ++j) CHECK((y.mat(0, j) == 0 && (x.mat(1, j) != -kInf || y.mat(1, j) == 0)));  // exactly
      be->softmax_rows_backward(want, dy.mat, dx.mat, true);
      plain_cpu().softmax_rows_backward(want, dy.mat, want_dx, true);
      CHECK(unlike(dx.mat, want_dx, kClose) == "");

      be->log_softmax_rows(x.mat, y.mat);
      plain_cpu().log_softmax_rows(x.mat, want);
      CHECK(unlike(y.mat, want, kClose) == "");
      be->log_softmax_rows_backward(want, dy.mat, dx.mat, true);
      plain_cpu().log_softmax_rows_backward(want, dy.mat, want_dx, true);
      CHECK(unlike(dx.mat, want_dx, cols * kClose) == "");

      be->log_sum_exp(x.mat, l.mat);
      plain_cpu().log_sum_exp(x.mat, want_l);
      CHECK(unlike(l.mat, want_l, kClose) == "");
      be->log_sum_exp_backward(x.mat, dl.mat, dx.mat);
      plain_cpu().log_sum_exp_backward(x.mat, dl.mat, want_dx);
      CHECK(unlike(dx.mat, want_dx, cols * kClose) == "");
    }
  }
}

TEST_CASE("fast softmax may write over what it reads") {
  Rng rng(12);
  for (Backend* be : all_fast()) {
    View x(5, 37, rng);
    Matrix y(x.mat.shape());
    be->softmax_rows(x.mat, y);
    be->softmax_rows(x.mat, x.mat);
    CHECK(bit_difference(x.mat, y) == "");
  }
}

TEST_CASE("fast cross-entropy is the plain one") {
  Rng rng(13);
  for (Backend* be : all_fast()) {
    for (int cols : {1, 2, 17, 65, 3000}) {
      for (int rows : {1, 5, 200}) {
        for (double smoothing : {0.0, 0.1}) {
          INFO(rows << " x " << cols << ", smoothing " << smoothing);
          if (rows * cols > 100000) continue;
          View x(rows, cols, rng), P(rows, cols, rng), dx(rows, cols, rng);
          std::vector<int> targets;
          for (int i = 0; i < rows; ++i) targets.push_back(i % 3 == 1 ? -1 : i * 7 % cols);
          for (int j = 0; j < cols; ++j) x.mat(0, j) += Real(1e4);
          x.mat(rows - 1, targets[0]) += 30;
          const Ints t{targets.data(), rows};
          Matrix y{{0}}, want_y{{0}}, dy{{0.7}}, want_P(x.mat.shape()), want(dx.mat);
          be->cross_entropy(x.mat, t, -1, smoothing, P.mat, y);
          plain_cpu().cross_entropy(x.mat, t, -1, smoothing, want_P, want_y);
          CHECK(unlike(y, want_y, kClose) == "");
          CHECK(unlike(P.mat, want_P, kClose) == "");
          be->cross_entropy_backward(want_P, t, -1, smoothing, dy, dx.mat, true);
          plain_cpu().cross_entropy_backward(want_P, t, -1, smoothing, dy, want, true);
          CHECK(unlike(dx.mat, want, kClose) == "");
        }
      }
    }
    std::vector<int> none = {-1, -1};  // no row counts: no loss, no gradient
    Matrix x{{1, 2}, {3, 4}}, P(Shape{2, 2}), y{{5}}, dy{{1}}, dx(Shape{2, 2});
    be->cross_entropy(x, {none.data(), 2}, -1, 0, P, y);
    be->cross_entropy_backward(P, {none.data(), 2}, -1, 0, dy, dx, true);
    CHECK(y(0, 0) == 0);
    CHECK(all_zero(dx));
    std::vector<int> hidden = {0};
    Matrix masked{{0, 0}}, P1(Shape{1, 2});
    masked(0, 0) = masked(0, 1) = -kInf;
    be->cross_entropy(masked, {hidden.data(), 1}, -1, 0, P1, y);
    CHECK(std::isnan(y(0, 0)));
    CHECK(all_zero(P1));
  }
}

namespace {

struct Norms {
  Matrix y, r, dx, dgain, dbias;
};

Norms norms_of(Backend& be, bool layer, Mat x, Mat gain, Mat bias, Mat dy, double eps, const Norms& start) {
  Norms n = start;
  if (layer) {
    be.layer_norm(x, gain, bias, eps, n.r, n.y);
    be.layer_norm_backward(x, gain, n.r, dy, n.dx, n.dgain, n.dbias, true);
  } else {
    be.rms_norm(x, gain, eps, n.r, n.y);
    be.rms_norm_backward(x, gain, n.r, dy, n.dx, n.dgain, true);
  }
  return n;
}

Norms start_of(int rows, int cols, Rng& rng) {
  return {Matrix(Shape{rows, cols}), Matrix(Shape{rows, 1}), normals(rows, cols, rng), normals(1, cols, rng), normals(1, cols, rng)};
}

void check_norms(const Norms& got, const Norms& want, double close) {
  CHECK(unlike(got.y, want.y, close) == "");
  CHECK(unlike(got.r, want.r, close) == "");
  CHECK(unlike(got.dx, want.dx, close) == "");
  CHECK(unlike(got.dgain, want.dgain, close) == "");
  CHECK(unlike(got.dbias, want.dbias, close) == "");
}

}  // namespace

TEST_CASE("fast norms are the plain norms, forward and backward") {
  Rng rng(14);
  for (Backend* be : all_fast()) {
    for (bool layer : {true, false}) {
      for (int cols : kWidths) {
        for (int rows : {1, 3, 4, 70, 150}) {
          INFO((layer ? "layer norm " : "rms norm ") << rows << " x " << cols);
          const View x(rows, cols, rng), dy(rows, cols, rng);
          const Matrix gain = normals(1, cols, rng), bias = normals(1, cols, rng);
          const Norms start = start_of(rows, cols, rng);
          // two numbers of a row may be close, so that 1 / deviation is large
          const double close = kClose * (rows + (cols < 4 ? 3000 : 10));
          check_norms(norms_of(*be, layer, x.mat, gain, bias, dy.mat, 1e-5, start), norms_of(plain_cpu(), layer, x.mat, gain, bias, dy.mat, 1e-5, start), close);
        }
      }
    }
  }
}

TEST_CASE("fast norms of rows far from 0, with one number far from the rest, too large or too small for squares, or wrong") {
  Rng rng(15);
  const int rows = 21, cols = 100;  // the kernels take four rows together: each kind has its own four
  const double close = 60 * kClose;
  for (Backend* be : all_fast()) {
    for (bool layer : {true, false}) {
      for (double eps : {0.0, 1e-5}) {
        INFO((layer ? "layer norm" : "rms norm") << ", eps " << eps);
        const View x(rows, cols, rng), dy(rows, cols, rng);
        const Matrix gain = normals(1, cols, rng), bias = normals(1, cols, rng);
        for (int j = 0; j < cols; ++j) {
          gain(0, j) += 2;
          x.mat(2, j) += Real(layer ? -1000 : 0);
          x.mat(5, j) *= Real(1e25);
          x.mat(9, j) *= Real(1e-22);
        }
        x.mat(1, 0) = 1000;
        if (eps == 0) fill_row(x.mat, 13, layer ? 3 : 0);  // no deviation
        Norms start = start_of(rows, cols, rng);
        start.dx = Matrix(Shape{rows, cols});
        check_norms(norms_of(*be, layer, x.mat, gain, bias, dy.mat, eps, start), norms_of(plain_cpu(), layer, x.mat, gain, bias, dy.mat, eps, start), close);
        x.mat(17, 3) = kNaN;
        x.mat(18, 3) = kInf;
        check_norms(norms_of(*be, layer, x.mat, gain, bias, dy.mat, eps, start), norms_of(plain_cpu(), layer, x.mat, gain, bias, dy.mat, eps, start), close);
      }
    }
  }
}

// y and dx of one row by the definition, in long double, from the r that was stored
static void true_row(Mat x, Mat gain, Mat bias, Mat dy, Real stored, std::vector<long double>& y, std::vector<long double>& dx) {
  const int n = x.cols;
  std::vector<long double> d(y.size());  // x - x_0 is exact: even a long double sum of x itself would not be good enough
  long double mean = 0, variance = 0, mean_u = 0, mean_ux = 0;
  for (int j = 0; j < n; ++j) {
    d[std::size_t(j)] = (long double)(x(0, j)) - x(0, 0);
    mean += d[std::size_t(j)] / n;
  }
  for (long double& v : d) {
    v -= mean;
    variance += v * v / n;
  }
  const long double r = 1 / std::sqrt(variance), s = stored;
  for (int j = 0; j < n; ++j) {
    const long double u = (long double)(dy(0, j)) * gain(0, j);
    mean_u += u / n;
    mean_ux += u * d[std::size_t(j)] * s / n;
  }
  for (int j = 0; j < n; ++j) {
    const long double v = d[std::size_t(j)];
    y[std::size_t(j)] = v * r * gain(0, j) + bias(0, j);
    dx[std::size_t(j)] = s * ((long double)(dy(0, j)) * gain(0, j) - mean_u - v * s * mean_ux);
  }
}

TEST_CASE("fast layer norm of rows around ten million is right to a few units in the last place") {
  Rng rng(18);
  const int cols = 100;
  const double unit = kDouble ? 2.3e-16 : 1.2e-7;
  for (Backend* be : all_fast()) {
    for (int rows : {1, 4}) {
      const View x(rows, cols, rng), dy(rows, cols, rng);
      const Matrix gain = normals(1, cols, rng), bias = normals(1, cols, rng);
      for (int j = 0; j < cols; ++j) {
        gain(0, j) += 2;
        for (int i = 0; i < rows; ++i) {
          x.mat(i, j) += Real(1e7);
          dy.mat(i, j) += 1;
        }
      }
      Norms start = start_of(rows, cols, rng);
      start.dx = Matrix(Shape{rows, cols});
      const Norms got = norms_of(*be, true, x.mat, gain, bias, dy.mat, 0, start);
      std::vector<long double> y(cols), dx(cols);
      double worst = 0;
      for (int i = 0; i < rows; ++i) {
        true_row(x.mat.block(i, 0, 1, cols), gain, bias, dy.mat.block(i, 0, 1, cols), got.r(i, 0), y, dx);
        for (int j = 0; j < cols; ++j) {
          worst = std::max(worst, double(std::fabs(got.y(i, j) - y[std::size_t(j)]) / (1 + std::fabs(y[std::size_t(j)]))));
          worst = std::max(worst, double(std::fabs(got.dx(i, j) - dx[std::size_t(j)]) / (1 + std::fabs(dx[std::size_t(j)]))));
        }
      }
      INFO(worst / unit << " units");
      CHECK(worst < 16 * unit);
    }
  }
}

TEST_CASE("fast norms send a gradient only where one is wanted") {
  Rng rng(16);
  const int rows = 70, cols = 19;
  for (Backend* be : all_fast()) {
    const View x(rows, cols, rng), dy(rows, cols, rng);
    const Matrix gain = normals(1, cols, rng), bias = normals(1, cols, rng);
    const Norms all = norms_of(*be, true, x.mat, gain, bias, dy.mat, 1e-5, start_of(rows, cols, rng));
    for (int which = 0; which < 8; ++which) {
      Matrix dx(Shape{rows, cols}), dgain(Shape{1, cols}), dbias(Shape{1, cols}), want_dx = dx, want_dgain = dgain, want_dbias = dbias;
      const auto wanted = [&](const Matrix& m, int bit) { return which & bit ? m.view() : Mat{nullptr, m.rows(), m.cols(), m.cols()}; };
      be->layer_norm_backward(x.mat, gain, all.r, dy.mat, wanted(dx, 1), wanted(dgain, 2), wanted(dbias, 4), true);
      plain_cpu().layer_norm_backward(x.mat, gain, all.r, dy.mat, wanted(want_dx, 1), wanted(want_dgain, 2), wanted(want_dbias, 4), true);
      CHECK(unlike(dx, want_dx, 100 * kClose) == "");
      CHECK(unlike(dgain, want_dgain, 100 * kClose) == "");
      CHECK(unlike(dbias, want_dbias, 100 * kClose) == "");
    }
  }
}

TEST_CASE("fast kernels of rows give the same bits for any number of threads") {
  Rng rng(17);
  const int rows = 700, cols = 77;
  const View x(rows, cols, rng), dy(rows, cols, rng);
  const Matrix gain = normals(1, cols, rng), bias = normals(1, cols, rng);
  const Norms start = start_of(rows, cols, rng);
  std::vector<int> targets;
  for (int i = 0; i < rows; ++i) targets.push_back(i % cols);
  for (Backend* be : all_fast()) {
    Norms norms[4], rms[4];
    Matrix soft[4], loss[4];
    for (int threads : {1, 2, 3}) {
      const Threads now(threads);
      norms[threads] = norms_of(*be, true, x.mat, gain, bias, dy.mat, 1e-5, start);
      rms[threads] = norms_of(*be, false, x.mat, gain, bias, dy.mat, 1e-5, start);
      soft[threads] = Matrix(Shape{rows, cols});
      loss[threads] = Matrix(Shape{1, 1});
      be->cross_entropy(x.mat, {targets.data(), rows}, -1, 0.1, soft[threads], loss[threads]);
    }
    for (int threads : {2, 3}) {
      for (const auto* all : {&norms, &rms}) {
        const Norms &a = (*all)[threads], &b = (*all)[1];
        CHECK((bit_difference(a.y, b.y) + bit_difference(a.dx, b.dx) + bit_difference(a.dgain, b.dgain) + bit_difference(a.dbias, b.dbias)) == "");
      }
      CHECK((bit_difference(soft[threads], soft[1]) + bit_difference(loss[threads], loss[1])) == "");
    }
  }
}
