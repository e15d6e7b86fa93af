// Attention, tile by tile               Q: n x d    K: m x d    V: m x d_v    Y: n x d_v    L: n x 1
//
//   E = scale · Q Kᵀ,  A = softmax(E),  Y = A V     as attention(), but E and A exist one tile at a time
//
// That is one head of one sequence. With tiling.batch and .heads the matrices are those of all of them, as multi_head cuts
// them (engine/backend.h, Tiling): sequences one under the other, heads side by side, L a column for each head.
//
// Forward. A block of queries meets one block of keys after the other. Each query keeps the largest score so far, m, and
// two sums that are relative to it, l and acc. A larger score arrives: both are rescaled by a = exp(m_old - m_new) <= 1.
//
//   m' = max(m, rowmax E)    P = exp(E - m')    a = exp(m - m')    l = a l + rowsum P    acc = a acc + P V
//   at the end               Y = acc / l        L = m + ln l       L is all that is kept, n numbers
//
// Backward. Each tile of weights is computed once more, P = exp(E - L): with L known it needs no other tile.
//
//   D = rowsum(dY ∘ Y) - dL      dV += Pᵀ dY      dE = P ∘ (dY Vᵀ - D)      dQ += scale · dE K      dK += scale · dEᵀ Q
//
// D is the row sum of A ∘ dA that the softmax needs: Σ_j A_ij Σ_c dY_ic V_jc = Σ_c dY_ic Y_ic. And dL/dE_ij = A_ij.
//
// Dao et al. 2022, "FlashAttention"; Dao 2023, "FlashAttention-2" (this order of the loops); the running softmax is by Milakov
// and Gimelshein 2018. The readable twin is OnlineSoftmax in layers/attention/flash.h.
#include <algorithm>

#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct FlashAttentionOp final : Op, Detailed {
  Real factor;
  Tiling tiling;
  Mat L_kept;    // unless it is the last columns of y
  Mat D;         // for backward
  Mat S, state;  // scratch: one tile; m and l of its queries
  Mat counts;
  FlashAttentionOp(Real f, Tiling t, Mat l, Mat d, Mat s, Mat ml, Mat c) : factor(f), tiling(t), L_kept(l), D(d), S(s), state(ml), counts(c) {}
  const char* name() const override { return "flash_attention"; }
  void details(Details& d) const override {
    d.add("factor", factor);
    d.add("causal", tiling.causal), d.add("keep", tiling.keep), d.add("masks", tiling.masks), d.add("with_L", tiling.with_L);
    d.add("batch", tiling.batch), d.add("heads", tiling.heads), d.add("kv_heads", tiling.kv_heads);
  }
  const char* hazard() const override { return "a score is too large for the number type, or an operand is not finite"; }
  bool mixes_entries() const override { return true; }
  bool means_minus_inf() const override { return tiling.with_L; }  // L of a query that sees nothing

  int in_y() const { return tiling.with_L ? tiling.heads : 0; }  // columns of L there
  Mat Y_of(Mat y) const { return y.block(0, 0, y.rows, y.cols - in_y()); }
  Mat L_of(Mat y) const { return y.block(0, y.cols - in_y(), y.rows, in_y()); }
  Mat L(Mat y) const { return tiling.with_L ? L_of(y) : L_kept; }

  // The pairs of all heads that are not hidden. The scores of the way back are computed again, so they count again.
  double pairs(const Step& s) const {
    const int n = s.x[0].rows / tiling.batch, m = s.x[1].rows / tiling.batch;
    double seen = 0;
    for (int b = 0; b < tiling.batch; ++b) {
      const Keep keep = tiling.keep_of(b);
      const bool all = keep.rows == 0 || !s.be.host_readable();
      for (int i = 0; i < n; ++i) {
        const int last = tiling.causal ? std::min(m, std::max(0, i + m - n + 1)) : m;
        if (all) seen += last;
        for (int j = 0; j < last && !all; ++j) seen += keep(keep.rows == 1 ? 0 : i, j);
      }
    }
    return seen * tiling.heads;
  }
  Cost cost(const Step& s, Pass pass) const override {
    const double d = s.x[0].cols / tiling.heads, d_v = s.x[2].cols / tiling.kv_heads;
    return {attention_flops(s, pass, pairs(s), d, d_v, true), usual_bytes(s, pass) + (pass == Pass::forward ? 0 : bytes_in(Y_of(s.y)))};
  }

  void forward(Step& s) override {
    Mat Q = s.x[0], K = s.x[1], V = s.x[2], Y = Y_of(s.y);
    s.be.flash_attention(Q, K, V, factor, tiling, S, state, Y, L(s.y), counts);
  }

  void backward(Step& s) override {
    Mat Q = s.x[0], K = s.x[1], V = s.x[2], Y = Y_of(s.y), dY = Y_of(s.dy), dL = tiling.with_L ? L_of(s.dy) : Mat{};
    Mat dQ = s.dx[0], dK = s.dx[1], dV = s.dx[2];
    s.be.flash_attention_backward(Q, K, V, factor, tiling, Y, L(s.y), dY, dL, D, S, dQ, dK, dV);
  }
};

// Throws unless the rows can be cut into sequences and the columns into heads.
static void require_parts(Var Q, Var K, Var V, const Tiling& t, Where where) {
  const Shape q = Q.shape(), k = K.shape(), v = V.shape();
  if (t.batch < 1 || t.heads < 1 || t.kv_heads < 1 || t.heads % t.kv_heads != 0) {
    throw InputError("flash_attention: " + std::to_string(t.batch) + " sequences, " + std::to_string(t.heads) + " heads on " + std::to_string(t.kv_heads) +
                     " key heads: there must be one of each at least, and the heads must share the key heads evenly");
  }
  if (q.rows % t.batch != 0 || k.rows % t.batch != 0) {
    shape_error("flash_attention", "the rows cannot be cut into " + std::to_string(t.batch) + " sequences", {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
  if (q.cols % t.heads != 0 || k.cols % t.kv_heads != 0 || v.cols % t.kv_heads != 0) {
    shape_error("flash_attention", "the columns cannot be cut into " + std::to_string(t.heads) + " heads, on " + std::to_string(t.kv_heads) + " key heads",
                {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
  if (q.cols / t.heads != k.cols / t.kv_heads) {
    shape_error("flash_attention", "queries and keys differ in width", {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
  if (k.rows != v.rows) {
    shape_error("flash_attention", "there must be one value for each key", {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
}

// 1 or n rows for each mask. One row for each of n sequences is not one mask of n rows: tiling.masks says which.
static void require_masks(Var Q, Var K, const Tiling& t, Where where) {
  if (t.masks != 1 && t.masks != t.batch) {
    throw InputError("flash_attention: there must be 1 mask or " + std::to_string(t.batch) + ", not " + std::to_string(t.masks));
  }
  const int n = Q.shape().rows / t.batch, m = K.shape().rows / t.batch;
  require_keep("flash_attention", Q, t.keep, {t.masks * (t.keep.rows == t.masks ? 1 : n), m}, where);
}

Var flash_attention(Var Q, Var K, Var V, double scale, const Tiling& wanted, Where where) {
  require_same_tape("flash_attention", {{"Q", Q}, {"K", K}, {"V", V}});
  require_parts(Q, K, V, wanted, where);
  if (wanted.keep.rows > 0) require_masks(Q, K, wanted, where);
  Tiling tiling = wanted;
  if (tiling.queries < 1 || tiling.keys < 1) {
    throw InputError("flash_attention: a tile must have at least one query and one key, not " + to_text(tiling.queries, tiling.keys));
  }
  if (!(tiling.tau >= 0 && tiling.tau <= 60)) {  // e^60 is no trouble in float either
    throw InputError("flash_attention: tau must be from 0 to 60, not " + to_text(tiling.tau));
  }
  Tape& tape = *Q.tape;
  if (tiling.keep.rows > 0) tiling.keep = tape.keep(tiling.keep);
  const int rows = Q.shape().rows, m = K.shape().rows / tiling.batch, h = tiling.heads, d_v = V.shape().cols / tiling.kv_heads;
  tiling.queries = std::min(tiling.queries, std::max(1, rows / tiling.batch));
  tiling.keys = std::min(tiling.keys, std::max(1, m));
  const Mat L = tiling.with_L ? Mat{} : tape.scratch({rows, h}), D = tape.scratch({rows, h});
  const Mat S = tape.scratch({tiling.queries, tiling.keys}), state = tape.scratch({tiling.queries, 2}), counts = tape.scratch({1, 2});
  return tape.record<FlashAttentionOp>(Shape{rows, h * d_v + (tiling.with_L ? h : 0)}, {Q, K, V}, where, Real(scale), tiling, L, D, S, state, counts);
}

FlashFields flash_fields(Var y) {
  const Node* n = &y.tape->node(y);
  if (n->view_of >= 0) n = &y.tape->nodes[std::size_t(n->view_of)];  // Y or L of [Y | L]
  const FlashAttentionOp* op = dynamic_cast<const FlashAttentionOp*>(n->rule);
  if (!op) throw TapeError("flash_fields: " + label(*y.tape, y.id) + " was not made by flash_attention()");
  const HostView counts(y.tape->be, op->counts);
  return {op->L(n->value), op->D, int(counts(0, 0)), int(counts(0, 1))};
}

}  // namespace GLASS_PRECISION
}  // namespace glass
