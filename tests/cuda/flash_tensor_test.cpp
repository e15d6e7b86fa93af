// Flash attention on tensor cores against loops in double. The inputs are rounded to 16 bits first, so what is left are the
// roundings of P (or dE) and of Y: 2^-9 of a number.
#include "tests/catch.h"
#include "tests/cuda/flash_problem.h"
#include "tests/cuda/twin_problem.h"

using namespace glass;

namespace {

struct Half {  // x on the device in 16 bits, as a view with 8 columns on each side
  CudaBackend& be;
  HalfMat home, view;

  Half(CudaBackend& b, Mat x) : be(b) {
    home = {static_cast<__nv_bfloat16*>(be.alloc(std::size_t(x.rows) * std::size_t(x.cols + 16) * 2 + 16)), x.rows, x.cols + 16, x.cols + 16};
    view = {home.data + 8, x.rows, x.cols, home.ld};
    to_half(Placed(be, x), view, be.stream);
  }
  ~Half() { be.free(home.data); }
  Matrix host() const {
    Matrix y(Shape{view.rows, view.cols}, &be), there(Shape{view.rows, view.cols});
    from_half(view, y, be.stream);
    be.to_host(y, there);
    return there;
  }
};

void round_to_half(CudaBackend& be, Matrix& x) { x = Half(be, x).host(); }

// The largest difference, over the largest number.
double error(Mat got, Mat want) {
  double worst = 0, size = 1e-30;
  for (int i = 0; i < want.rows; ++i) {
    for (int j = 0; j < want.cols; ++j) {
      worst = std::max(worst, std::abs(double(got(i, j)) - double(want(i, j))));
      size = std::max(size, std::abs(double(want(i, j))));
      if (got(i, j) != got(i, j)) return 1;
    }
  }
  return worst / size;
}

const FlashShape kShapes[] = {
    {1, 1, 64, 64},         {64, 64, 64, 64, 1, 1, 1, true}, {65, 63, 128, 128, 1, 1, 1, true}, {130, 190, 64, 64, 1, 2, 1, true},
    {70, 33, 64, 64, 2, 4, 2, true}, {63, 129, 128, 128, 2, 2, 1},
};

}  // namespace

TEST_CASE("flash attention on tensor cores, forward and backward") {
  CudaBackend be;
  int turn = 0;
  for (const FlashShape& s : kShapes) {
    const ThreadOrder as(turn++ % 2 ? "reverse" : "4");
    FlashProblem p(s, 21);
    for (Matrix* x : {&p.Q, &p.K, &p.V, &p.dY}) round_to_half(be, *x);
    p.solve();
    INFO(s.n << " x " << s.m << ", width " << s.d);
    const Half Q(be, p.Q), K(be, p.K), V(be, p.V), dY(be, p.dY), Y(be, Matrix(p.Y.shape()));
    const Placed L(be, p.dL, 1);
    flash_tensor(Q.view, K.view, V.view, p.scale, p.t, Y.view, L, be.stream);
    CHECK(error(Y.host(), p.Y) < 4e-3);
    CHECK(difference(L.host(), p.L, Tolerance{2e-5, 3e-6}) == "");

    const Placed D(be, p.D), L_kept(be, p.L), dQ(be, p.Q), dK(be, p.K), dV(be, p.V);  // they hold something already
    flash_tensor_backward(Q.view, K.view, V.view, p.scale, p.t, L_kept, D, dY.view, dQ, dK, dV, be.stream);
    const auto plus = [](const Matrix& a, const Matrix& b) {
      Matrix y(a);
      for (int i = 0; i < y.rows(); ++i)
        for (int j = 0; j < y.cols(); ++j) y(i, j) += b(i, j);
      return y;
    };
    CHECK(error(dQ.host(), plus(p.Q, p.dQ)) < 4e-3);
    CHECK(error(dK.host(), plus(p.K, p.dK)) < 4e-3);
    CHECK(error(dV.host(), plus(p.V, p.dV)) < 4e-3);
  }
}

// The rows of x that see, or are seen by, what is NaN.
static Matrix with_nan(Matrix x, const std::vector<bool>& touched) {
  for (int i = 0; i < x.rows(); ++i)
    for (int c = 0; c < x.cols() && touched[std::size_t(i)]; ++c) x(i, c) = std::numeric_limits<Real>::quiet_NaN();
  return x;
}

// error(), where what should be NaN is.
static double error_beside_nan(Matrix got, Matrix want) {
  for (int i = 0; i < want.rows(); ++i) {
    for (int c = 0; c < want.cols(); ++c) {
      if (std::isnan(want(i, c)) != std::isnan(got(i, c))) return 1;
      if (std::isnan(want(i, c))) want(i, c) = got(i, c) = 0;
    }
  }
  return error(got, want);
}

// A tile on the diagonal is hidden in part. A NaN in one key is no concern of the queries before it, one in a query none of the keys
// behind it.
TEST_CASE("flash attention on tensor cores: a hidden NaN stays out, one that is seen does not") {
  CudaBackend be;
  for (const int d : {64, 128}) {
    for (const int at : {2, 40, 68}) {
      for (const bool is_key : {true, false}) {
        FlashProblem p({70, 75, d, d, 1, 1, 1, true}, 22);
        for (Matrix* x : {&p.Q, &p.K, &p.V, &p.dY}) round_to_half(be, *x);
        p.solve();  // without the NaN: L and D are what they are for the others
        std::vector<bool> queries(70), keys(75);
        for (int i = 0; i < 70; ++i) queries[std::size_t(i)] = is_key ? p.sees(0, i, at) : i == at;
        for (int j = 0; j < 75; ++j) keys[std::size_t(j)] = is_key ? j == at : p.sees(0, at, j);
        INFO("width " << d << (is_key ? ", key " : ", query ") << at);
        const Half Q(be, is_key ? p.Q : with_nan(p.Q, queries)), dY(be, is_key ? p.dY : with_nan(p.dY, queries));
        const Half K(be, is_key ? with_nan(p.K, keys) : p.K), V(be, is_key ? with_nan(p.V, keys) : p.V), Y(be, Matrix(p.Y.shape()));
        const Placed L(be, p.L), D(be, p.D), L_new(be, p.L), dQ(be, Matrix(p.Q.shape())), dK(be, Matrix(p.K.shape())), dV(be, Matrix(p.V.shape()));
        flash_tensor_backward(Q.view, K.view, V.view, p.scale, p.t, L, D, dY.view, dQ, dK, dV, be.stream);
        flash_tensor(Q.view, K.view, V.view, p.scale, p.t, Y.view, L_new, be.stream);
        CHECK(error_beside_nan(Y.host(), with_nan(p.Y, queries)) < 4e-3);
        CHECK(error_beside_nan(dQ.host(), with_nan(p.dQ, queries)) < 4e-3);
        CHECK(error_beside_nan(dK.host(), with_nan(p.dK, keys)) < 4e-3);
        CHECK(error_beside_nan(dV.host(), with_nan(p.dV, keys)) < 4e-3);
      }
    }
  }
}

TEST_CASE("flash attention on tensor cores refuses what it cannot take") {
  CudaBackend be;
  Matrix x(Shape{3, 40}), l(Shape{3, 1});
  const Half q(be, x);
  CHECK_THROWS_WITH(flash_tensor(q.view, q.view, q.view, 1, {}, q.view, Placed(be, l), be.stream), "flash_tensor: heads must be 64 or 128 wide, not 40 and 40");
}
