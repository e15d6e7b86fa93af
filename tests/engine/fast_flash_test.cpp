// Fast attention in tiles against the plain kernel: over widths of vectors, batches, heads, lengths, masks, views and threads.
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cpu/cpu.h"
#include "engine/cpu/fast.h"
#include "engine/cpu/threads.h"
#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {

enum class Hidden { nothing, future, padding, both, scattered };

struct Sizes {
  int batch, heads, kv_heads, n, m, d, d_v;
};

// Everything that one call reads and writes. Q, K, V and their gradients are blocks of one wide matrix where the rows allow it.
struct Attention {
  Sizes s;
  Tiling tiling;
  std::vector<unsigned char> bytes;
  Matrix qkv, dqkv, dY, y, dy, L, D, dL, S, state, counts;
  Mat Q, K, V, dQ, dK, dV, Y;

  Attention(const Sizes& sizes, Hidden hidden, Rng& rng) : s(sizes) {
    const int rows = s.batch * std::max(s.n, s.m), q = s.heads * s.d, k = s.kv_heads * s.d, v = s.kv_heads * s.d_v, wide = s.heads * s.d_v;
    tiling.batch = s.batch, tiling.heads = s.heads, tiling.kv_heads = s.kv_heads;
    tiling.causal = hidden == Hidden::future || hidden == Hidden::both;
    if (hidden == Hidden::padding || hidden == Hidden::both || hidden == Hidden::scattered) {
      const int each = hidden == Hidden::scattered ? s.n : 1;
      for (int i = 0; i < s.batch * each * s.m; ++i) bytes.push_back(rng.uniform() < 0.7);
      tiling.keep = {bytes.data(), s.batch * each, s.m};
      tiling.masks = s.batch;
    }
    qkv = random_matrix({rows, q + k + v + 3}, rng);
    dqkv = random_matrix({rows, q + k + v + 3}, rng);
    dY = random_matrix({s.batch * s.n, wide + 2}, rng);
    y = random_matrix({s.batch * s.n, wide + 1}, rng);
    dL = random_matrix({s.batch * s.n, s.heads}, rng);
    L = D = Matrix(Shape{s.batch * s.n, s.heads});
    S = Matrix(Shape{32, 32}), state = Matrix(Shape{32, 2}), counts = Matrix(Shape{1, 2});
    cut();
  }
  Attention(const Attention& other)
      : s(other.s), tiling(other.tiling), bytes(other.bytes), qkv(other.qkv), dqkv(other.dqkv), dY(other.dY), y(other.y), L(other.L), D(other.D), dL(other.dL),
        S(other.S), state(other.state), counts(other.counts) {
    tiling.keep.data = bytes.data();
    cut();
  }
  void cut() {
    const int q = s.heads * s.d, k = s.kv_heads * s.d, v = s.kv_heads * s.d_v;
    Q = qkv.view().block(0, 1, s.batch * s.n, q), K = qkv.view().block(0, 1 + q, s.batch * s.m, k), V = qkv.view().block(0, 1 + q + k, s.batch * s.m, v);
    dQ = dqkv.view().block(0, 1, s.batch * s.n, q), dK = dqkv.view().block(0, 1 + q, s.batch * s.m, k), dV = dqkv.view().block(0, 1 + q + k, s.batch * s.m, v);
    Y = y.view().block(0, 0, s.batch * s.n, s.heads * s.d_v);
  }
  void run(Backend& be, bool with_dL = true, unsigned wanted = 7) {
    const Real scale = Real(1.3 / std::sqrt(double(std::max(1, s.d))));
    const Mat dy_ = dY.view().block(0, 1, s.batch * s.n, s.heads * s.d_v);
    const bool add[] = {true, true, true};
    be.flash_attention(Q, K, V, scale, tiling, S, state, Y, L, counts);
    be.flash_attention_backward(Q, K, V, scale, tiling, Y, L, dy_, with_dL ? dL.view() : Mat{}, D, S, wanted & 1 ? dQ : Mat{}, wanted & 2 ? dK : Mat{},
                                wanted & 4 ? dV : Mat{}, add);
  }
};

std::vector<Backend*> all_kernels() {
  std::vector<Backend*> all;
  for (int bytes : {16, 32, 64})
    if (Backend* be = fast_cpu(bytes)) all.push_back(be);
  return all;
}

const Tolerance kClose = kDouble ? Tolerance{1e-11, 1e-11} : Tolerance{1e-4, 2e-5};

void check_same(const Attention& got, const Attention& want, Tolerance t = kClose) {
  CHECK(difference(got.Y, want.Y, t) == "");
  CHECK(difference(got.L, want.L, t) == "");
  CHECK(difference(got.D, want.D, t) == "");
  CHECK(difference(got.dqkv, want.dqkv, t) == "");  // what lies beside the blocks must stay as it was
  CHECK(difference(got.qkv, want.qkv, {0, 0}) == "");
}

CpuBackend plain;

}  // namespace

TEST_CASE("fast flash attention is the plain one, forward and backward") {
  Rng rng(1);
  std::vector<Sizes> all;
  for (int n : {1, 2, 31, 33, 97, 130})
    for (int m : {1, 2, 32, 97, 130, 200}) all.push_back({1, 1, 1, n, m, 5, 3});
  for (int n : {2, 33, 130}) {
    all.push_back({3, 4, 2, n, n, 16, 8});
    all.push_back({2, 3, 1, n, n + 7, 3, 17});
  }
  for (int d : {1, 3, 8, 64, 80, 128}) all.push_back({1, 2, 2, 100, 200, d, d == 80 ? 33 : d});
  for (Backend* be : all_kernels()) {
    for (const Sizes& s : all) {
      for (Hidden hidden : {Hidden::nothing, Hidden::future, Hidden::padding, Hidden::both, Hidden::scattered}) {
        CAPTURE(be->name(), s.batch, s.heads, s.kv_heads, s.n, s.m, s.d, s.d_v, int(hidden));
        Attention want(s, hidden, rng), got(want);
        want.run(plain);
        got.run(*be);
        check_same(got, want);
        CHECK((got.counts(0, 0) > 0) == (want.counts(0, 0) > 0));
      }
    }
  }
}

TEST_CASE("fast flash attention: the same bits for any number of threads, with or without the other gradients") {
  Rng rng(2);
  for (Backend* be : all_kernels()) {
    for (const Sizes& s : {Sizes{1, 1, 1, 400, 400, 16, 16}, Sizes{2, 4, 2, 200, 230, 24, 24}}) {
      for (Hidden hidden : {Hidden::nothing, Hidden::future, Hidden::scattered}) {
        const Attention start(s, hidden, rng);
        Attention one(start);
        set_threads(1);
        one.run(*be);
        for (int threads : {2, 3}) {
          set_threads(threads);
          Attention some(start);
          some.run(*be);
          CHECK(bit_difference(some.Y, one.Y) == "");
          CHECK(bit_difference(some.L, one.L) == "");
          CHECK(bit_difference(some.dqkv, one.dqkv) == "");
          CHECK(bit_difference(some.counts, one.counts) == "");
        }
        for (unsigned wanted = 0; wanted < 7; ++wanted) {
          Attention part(start);
          part.run(*be, true, wanted);
          CHECK(bit_difference(part.dQ, wanted & 1 ? one.dQ : start.dQ) == "");
          CHECK(bit_difference(part.dK, wanted & 2 ? one.dK : start.dK) == "");
          CHECK(bit_difference(part.dV, wanted & 4 ? one.dV : start.dV) == "");
        }
        set_threads(0);
      }
    }
  }
}

TEST_CASE("fast flash attention: a gradient of L is optional, and rows that see nothing are exactly zero") {
  Rng rng(3);
  for (Backend* be : all_kernels()) {
    Attention start({2, 2, 1, 70, 60, 9, 9}, Hidden::both, rng);  // ten queries come before the first key
    for (int j = 0; j < 60; ++j) start.bytes[std::size_t(j)] = 0;  // and the first sequence is all padding
    Attention want(start), got(start);
    want.run(plain, false);
    got.run(*be, false);
    check_same(got, want);
    CHECK(all_zero(got.Y.block(0, 0, 80, 18)));
    CHECK(bit_difference(got.dQ.block(0, 0, 80, 18), start.dQ.block(0, 0, 80, 18)) == "");
    CHECK(bit_difference(got.dK.block(0, 0, 60, 9), start.dK.block(0, 0, 60, 9)) == "");
    CHECK(got.L(0, 1) == -std::numeric_limits<Real>::infinity());
  }
}

TEST_CASE("fast flash attention: NaN and infinity stay with those that see them") {
  Rng rng(4);
  const Real nan = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();
  for (Backend* be : all_kernels()) {
    for (Hidden hidden : {Hidden::nothing, Hidden::future, Hidden::padding, Hidden::scattered}) {
      for (int where = 0; where < 4; ++where) {
        CAPTURE(be->name(), int(hidden), where);
        Attention want({1, 2, 1, 100, 100, 6, 6}, hidden, rng);
        if (hidden == Hidden::padding) want.bytes[50] = 0;
        (where == 0 ? want.Q : where == 1 ? want.K : want.V)(50, 2) = where == 3 ? infinity : nan;
        Attention got(want);
        want.run(plain);
        got.run(*be);
        int bad = 0;
        const Mat pairs[][2] = {{got.Y, want.Y}, {got.L, want.L}, {got.dqkv, want.dqkv}};
        for (const auto& p : pairs)
          for (int i = 0; i < p[0].rows; ++i)
            for (int j = 0; j < p[0].cols; ++j) {
              const double a = double(p[0](i, j)), b = double(p[1](i, j));
              const bool same = std::isfinite(b) ? std::fabs(a - b) <= kClose.absolute + kClose.relative * std::fabs(b) : std::isnan(a) == std::isnan(b);
              bad += !same;
            }
        CHECK(bad == 0);
      }
    }
  }
}

TEST_CASE("fast flash attention: tiles that are asked for are counted, and a lagging maximum is the plain kernel's") {
  Rng rng(5);
  for (Backend* be : all_kernels()) {
    Attention start({1, 1, 1, 64, 64, 4, 4}, Hidden::future, rng);
    start.tiling.queries = start.tiling.keys = 8;
    Attention small(start);
    small.run(*be);
    CHECK(small.counts(0, 0) == 36);
    start.tiling.queries = start.tiling.keys = 32;
    start.tiling.tau = 3;
    Attention want(start), got(start);
    want.run(plain);
    got.run(*be);
    CHECK(bit_difference(got.Y, want.Y) == "");
  }
}

// Bytes on a tape for one head of n queries and keys: values, gradients and scratch.
static double bytes_for(Backend& be, int n) {
  Rng rng(6);
  Tape tape(be);
  const Var Q = tape.input(random_matrix({n, 16}, rng), "Q"), K = tape.input(random_matrix({n, 16}, rng), "K"), V = tape.input(random_matrix({n, 16}, rng), "V");
  const Var Y = flash_attention(Q, K, V, 0.25, {.causal = true, .batch = 1, .heads = 2, .kv_heads = 2});
  tape.backward(Y, random_matrix({n, 16}, rng));
  return double(tape.bytes());
}

TEST_CASE("fast flash attention: no n x n matrix on the tape") {
  for (Backend* be : all_kernels()) CHECK(std::log(bytes_for(*be, 2048) / bytes_for(*be, 256)) / std::log(8.0) < 1.05);
}
