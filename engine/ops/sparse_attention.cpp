// Attention over a list of allowed pairs     Q: n x d    K: m x d    V: m x d_v    Y: n x d_v
//
//   E_ij = scale · Q_i · K_j            for the allowed pairs (i, j) only: the others are never computed
//   A_ij = exp(E_ij) / Σ_l exp(E_il)    l runs over the keys that query i may use
//   Y_i  = Σ_j A_ij V_j                 a query that may use none: a row of zeros
//
//   dA_ij = dY_i · V_j          dV_j = Σ_i A_ij dY_i          dE_ij = A_ij (dA_ij - Σ_l A_il dA_il)
//   dQ_i = scale Σ_j dE_ij K_j         dK_j = scale Σ_i dE_ij Q_i
//
// The same as attention under a mask, for the price of the pairs: 2 (d + d_v) operations forward for each, twice that
// on the way back, and three numbers of memory. Child et al. 2019, "Generating Long Sequences with Sparse Transformers".
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SparseAttentionOp final : Op, Detailed {
  Real factor;
  PairList allowed;
  Mat A;       // one weight for each pair
  Mat dA, dE;  // scratch for backward
  SparseAttentionOp(Real f, PairList p, Mat a, Mat da, Mat de) : factor(f), allowed(p), A(a), dA(da), dE(de) {}
  const char* name() const override { return "sparse_attention"; }
  void details(Details& d) const override { d.add("factor", factor), d.add("starts", allowed.starts), d.add("keys", allowed.keys); }
  const char* hazard() const override { return "a score is too large for the number type, or an operand is not finite"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    return {attention_flops(s, pass, numbers_in(A), s.x[0].cols, s.x[2].cols, false), usual_bytes(s, pass) + bytes_in(A) + double(sizeof(int)) * allowed.keys.n};
  }

  void forward(Step& s) override {
    Mat Q = s.x[0], K = s.x[1], V = s.x[2], Y = s.y;
    s.be.pair_dots(Q, K, allowed, factor, A);
    s.be.pair_softmax(A, allowed, A);
    s.be.fill(Y, 0);
    s.be.add_pair_rows(1, A, allowed, V, Y);
  }

  void backward(Step& s) override {
    Mat Q = s.x[0], K = s.x[1], V = s.x[2], dY = s.dy, dQ = s.dx[0], dK = s.dx[1], dV = s.dx[2];
    if (dV.data) s.be.add_pair_cols(1, A, allowed, dY, dV);
    if (!dQ.data && !dK.data) return;
    s.be.pair_dots(dY, V, allowed, 1, dA);
    s.be.pair_softmax_backward(A, dA, allowed, dE);
    if (dQ.data) s.be.add_pair_rows(factor, dE, allowed, K, dQ);
    if (dK.data) s.be.add_pair_cols(factor, dE, allowed, Q, dK);
  }
};

// What weights_of shows: the kept weights as a matrix, 0 for a pair that is not in the list.
struct SparseWeightsOp final : Op {
  PairList allowed;
  Mat A;
  SparseWeightsOp(PairList p, Mat a) : allowed(p), A(a) {}
  const char* name() const override { return "sparse_weights"; }
  void forward(Step& s) override { s.be.spread_pairs(A, allowed, s.y); }
  void backward(Step&) override {}  // never called: the line wants no gradient
};

static std::string mistake_in(PairList p, int queries, int keys) {  // in words; empty if there is none
  if (p.starts.n != queries + 1) return "there must be one list of keys for each query, but there are " + std::to_string(p.starts.n - 1);
  if (p.begin(0) != 0 || p.end(queries - 1) != p.keys.n) return "the lists do not cover the pairs from the first to the last";
  for (int i = 0; i < queries; ++i) {
    if (p.begin(i) > p.end(i)) return "the list of query " + std::to_string(i) + " ends before it begins";
    for (int at = p.begin(i); at < p.end(i); ++at) {
      const std::string key = "key " + std::to_string(p.key(at)) + " of query " + std::to_string(i);
      if (p.key(at) < 0 || p.key(at) >= keys) return key + " does not exist";
      if (at > p.begin(i) && p.key(at) <= p.key(at - 1)) return key + " does not come after the one before it";
    }
  }
  return "";
}

Var sparse_attention(Var Q, Var K, Var V, double scale, PairList allowed, Where where) {
  require_same_tape("sparse_attention", {{"Q", Q}, {"K", K}, {"V", V}});
  const Shape q = Q.shape(), k = K.shape(), v = V.shape();
  if (q.cols != k.cols) {
    shape_error("sparse_attention", "queries and keys differ in width", {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
  if (k.rows != v.rows) {
    shape_error("sparse_attention", "there must be one value for each key", {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
  const std::string mistake = mistake_in(allowed, q.rows, k.rows);
  if (!mistake.empty()) shape_error("sparse_attention", mistake, {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  Tape& tape = *Q.tape;
  const PairList mine{tape.ints(allowed.starts.data, allowed.starts.n), tape.ints(allowed.keys.data, allowed.keys.n)};
  const Shape pairs{allowed.keys.n, 1};
  const Mat A = tape.scratch(pairs), dA = tape.scratch(pairs), dE = tape.scratch(pairs);
  return tape.record<SparseAttentionOp>(Shape{q.rows, v.cols}, {Q, K, V}, where, Real(scale), mine, A, dA, dE);
}

Var sparse_weights_of(Var y, Where where) {
  Tape& tape = *y.tape;
  const Node& n = tape.node(y);
  const SparseAttentionOp* op = dynamic_cast<const SparseAttentionOp*>(n.rule);
  if (!op) return {};
  const Shape pairs{n.value.rows, tape.nodes[std::size_t(n.in[1])].value.rows};
  const bool recording = tape.recording;
  tape.recording = false;
  const Var A = tape.record<SparseWeightsOp>(pairs, {y}, where, op->allowed, op->A);
  tape.recording = recording;
  return A;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
