// The ladder of flash attention, every version against loops in double, and the method of the backend.
#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/cuda/flash_problem.h"
#include "tests/cuda/twin_problem.h"

using namespace glass;

static const Tolerance kClose{2e-5, 3e-6};  // float sums in another order, e^x of the processor

// One and two tiles of each version, and one more or less; heads that share keys; masks of each kind.
static const FlashShape kShapes[] = {
    {1, 1, 64, 64},
    {31, 33, 64, 64},
    {64, 32, 128, 128},
    {65, 63, 64, 64, 1, 2, 1, true},
    {33, 129, 64, 64, 2, 2, 2, true},
    {40, 24, 64, 64, 1, 1, 1, true},  // the first 16 queries see nothing
    {66, 70, 64, 64, 2, 4, 2, false, 1, 1},
    {34, 66, 64, 64, 2, 2, 1, false, 34, 1},
    {66, 34, 128, 128, 2, 2, 1, true, 66, 2},
    {5, 7, 64, 64, 3, 2, 1, false, 1, 3},
};
static const FlashShape kOddShapes[] = {
    {1, 1, 1, 1}, {3, 6, 5, 3}, {65, 33, 7, 64}, {33, 65, 3, 1, 2, 4, 2, true}, {67, 31, 9, 5, 2, 2, 1, false, 67, 2}, {4, 5, 0, 2}, {4, 5, 2, 0}, {4, 0, 3, 2},
};

static std::string name(const FlashShape& s) {
  return std::to_string(s.n) + " x " + std::to_string(s.m) + ", width " + std::to_string(s.d) + " and " + std::to_string(s.d_v) + ", " + std::to_string(s.batch) + " of " +
         std::to_string(s.heads) + " heads" + (s.causal ? ", causal" : "") + ", masks " + std::to_string(s.masks) + " of " + std::to_string(s.keep_rows);
}

// Views of any ld; of 4 extra columns the rows stay aligned.
static void check_forward(CudaBackend& be, int version, const FlashProblem& p, int extra) {
  INFO("version " << version << ", " << name(p.s));
  const Placed Q(be, p.Q, extra), K(be, p.K, extra), V(be, p.V, extra);
  REQUIRE(flash_fits(version, Q, K, V, p.t));
  const Placed Y(be, p.dY, extra), L(be, p.dL, 1), counts(be, Matrix({{0, 0}}));
  flash_forward(version, Q, K, V, p.scale, p.t, Y, L, counts, be.stream);
  CHECK(difference(Y.host(), p.Y, kClose) == "");
  CHECK(difference(L.host(), p.L, kClose) == "");
  CHECK(counts.host()(0, 0) >= (p.s.m > 0 ? 1 : 0));
}

TEST_CASE("flash attention: every version is the softmax in double") {
  CudaBackend be;
  for (const char* order : {"forward", "reverse", "3"}) {
    const ThreadOrder as(order);
    for (const FlashShape& s : kShapes) {
      const FlashProblem p(s, 5);
      for (int version = 1; version <= kFlashVersions; ++version) check_forward(be, version, p, 4);
    }
  }
  for (const FlashShape& s : kOddShapes)
    for (int version : {1, 2}) check_forward(be, version, FlashProblem(s, 6), 1);
}

static void check_backward(CudaBackend& be, int version, const FlashProblem& p, int extra) {
  INFO("version " << version << ", " << name(p.s));
  const Placed Q(be, p.Q, extra), K(be, p.K, extra), V(be, p.V, extra), Y(be, p.Y, extra), L(be, p.L), dY(be, p.dY, extra), dL(be, p.dL), D(be, p.dL);
  flash_row_sums(Y, dY, dL, D, be.stream);
  CHECK(difference(D.host(), p.D, kClose) == "");
  Matrix one_q(p.Q.shape()), one_k(p.K.shape()), one_v(p.V.shape());
  const Placed dQ(be, one_q, extra), dK(be, one_k, extra), dV(be, one_v, extra);
  for (int twice = 0; twice < 2; ++twice) flash_backward(version, Q, K, V, p.scale, p.t, L, D, dY, dQ, dK, dV, be.stream);
  const auto doubled = [](const Matrix& x) {
    Matrix y(x);
    for (int i = 0; i < y.rows(); ++i)
      for (int j = 0; j < y.cols(); ++j) y(i, j) *= 2;
    return y;
  };
  CHECK(difference(dQ.host(), doubled(p.dQ), kClose) == "");
  CHECK(difference(dK.host(), doubled(p.dK), kClose) == "");
  CHECK(difference(dV.host(), doubled(p.dV), kClose) == "");
}

TEST_CASE("flash attention: every version's gradients are those of the softmax in double, and are added") {
  CudaBackend be;
  for (const char* order : {"forward", "reverse", "3"}) {
    const ThreadOrder as(order);
    for (const FlashShape& s : kShapes)
      for (int version = 1; version <= kFlashBackwardVersions; ++version) check_backward(be, version, FlashProblem(s, 7), 4);
  }
  for (const FlashShape& s : kOddShapes)
    for (int version : {1, 2}) check_backward(be, version, FlashProblem(s, 8), 1);
}

TEST_CASE("flash attention: a hidden NaN stays out, one that is seen does not") {
  CudaBackend be;
  FlashProblem p({66, 70, 64, 64, 1, 1, 1, false, 66, 1}, 9);
  const int hidden = 68;
  for (int i = 0; i < 66; ++i) p.keep[std::size_t(i * 70 + hidden)] = i == 40;
  for (int k = 0; k < 64; ++k) p.K(hidden, k) = p.V(hidden, k) = std::numeric_limits<Real>::quiet_NaN();
  for (int version = 1; version <= kFlashVersions; ++version) {
    INFO("version " << version);
    const Placed Q(be, p.Q), K(be, p.K), V(be, p.V), Y(be, p.dY), L(be, p.dL), counts(be, Matrix({{0, 0}}));
    flash_forward(version, Q, K, V, p.scale, p.t, Y, L, counts, be.stream);
    const Matrix y = Y.host();
    for (int i = 0; i < 66; ++i)
      for (int k = 0; k < 64; ++k) CHECK(std::isnan(y(i, k)) == (i == 40));
  }
  for (int version = 1; version <= kFlashBackwardVersions; ++version) {
    INFO("version " << version);
    const Placed Q(be, p.Q), K(be, p.K), V(be, p.V), L(be, p.L), D(be, p.D), dY(be, p.dY), dQ(be, Matrix(p.Q.shape())), dK(be, Matrix(p.K.shape())), dV(be, Matrix(p.V.shape()));
    flash_backward(version, Q, K, V, p.scale, p.t, L, D, dY, dQ, dK, dV, be.stream);
    const Matrix dq = dQ.host(), dk = dK.host(), dv = dV.host();
    for (int i = 0; i < 66; ++i) CHECK(std::isnan(dq(i, 3)) == (i == 40));
    for (int j = 0; j < 70; ++j) CHECK((std::isnan(dk(j, 3)) == (j == hidden) && std::isnan(dv(j, 3)) == (j == hidden)));
  }
}

TEST_CASE("flash attention: the same bits every time, and without dQ, dK, dV or dL") {
  CudaBackend be;
  const FlashProblem p({37, 41, 64, 64, 2, 4, 2, true}, 10);
  const Placed Q(be, p.Q), K(be, p.K), V(be, p.V), Y(be, p.Y), L(be, p.L), dY(be, p.dY), D(be, p.dL);
  Matrix first_q, first_k, first_v;
  for (int wanted = 7; wanted >= 0; --wanted) {
    const Placed dQ(be, Matrix(p.Q.shape())), dK(be, Matrix(p.K.shape())), dV(be, Matrix(p.V.shape()));
    const bool add[] = {true, true, true};
    be.flash_attention_backward(Q, K, V, p.scale, p.t, Y, L, dY, {}, D, {}, wanted & 1 ? Mat(dQ) : Mat{}, wanted & 2 ? Mat(dK) : Mat{}, wanted & 4 ? Mat(dV) : Mat{}, add);
    if (wanted == 7) first_q = dQ.host(), first_k = dK.host(), first_v = dV.host();
    CHECK(bit_difference(dQ.host(), wanted & 1 ? first_q : Matrix(p.Q.shape())) == "");
    CHECK(bit_difference(dK.host(), wanted & 2 ? first_k : Matrix(p.K.shape())) == "");
    CHECK(bit_difference(dV.host(), wanted & 4 ? first_v : Matrix(p.V.shape())) == "");
  }
}

TEST_CASE("flash attention: counts are of the version's own tiles") {
  CudaBackend be;
  const FlashProblem p({128, 128, 64, 64, 1, 1, 1, true}, 11);
  const int tiles[] = {128 * 129 / 2, 2 + 4, 1 + 2 + 3 + 4, 1 + 2};  // below the diagonal: pairs, 64 x 32, 32 x 32, 64 x 64
  for (int version = 1; version <= kFlashVersions; ++version) {
    const Placed Q(be, p.Q), K(be, p.K), V(be, p.V), Y(be, p.dY), L(be, p.dL), counts(be, Matrix({{0, 0}}));
    flash_forward(version, Q, K, V, p.scale, p.t, Y, L, counts, be.stream);
    CHECK(counts.host()(0, 0) == Real(tiles[version - 1]));
    CHECK(counts.host()(0, 1) > 0);
    Tiling lagging = p.t;
    lagging.tau = 60;
    const Placed none(be, Matrix({{0, 0}}));
    flash_forward(version, Q, K, V, p.scale, lagging, Y, L, none, be.stream);
    CHECK(none.host()(0, 1) == 0);
    CHECK(difference(Y.host(), p.Y, kClose) == "");
  }
}

TEST_CASE("flash attention: a version that does not fit says so") {
  CudaBackend be;
  const FlashProblem p({3, 4, 5, 5}, 12);
  const Placed Q(be, p.Q), Y(be, p.dY), L(be, p.dL), counts(be, Matrix({{0, 0}}));
  const Placed K(be, p.K), V(be, p.V);
  CHECK_THROWS_WITH(flash_forward(3, Q, K, V, p.scale, p.t, Y, L, counts, be.stream), "flash_forward: version 3 does not fit heads of width 5 and 5");
  CHECK_FALSE(flash_fits(5, Q, K, V, p.t));
}
