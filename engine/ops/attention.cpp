// Attention in one line                     Q: n x d    K: m x d    V: m x d_v    Y: n x d_v
//
//   E = scale · Q Kᵀ          every query meets every key; hidden pairs become -inf
//   A = softmax(E)            rows are weights; kept as a field, for backward and for weights_of(Y)
//   Y = A V                   mix the values
//
//   dA = dY Vᵀ      dV = Aᵀ dY      dE = A ∘ (dA - rowsum(A ∘ dA))      dQ = scale · dE K      dK = scale · dEᵀ Q
//
// Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1. The readable twin, five lines of the tape, is
// attention_steps in layers/attention/attention.h: it is the definition, this must agree with it.
#include "engine/details.h"
#include "engine/ops/check.h"

#include <limits>

namespace glass {
inline namespace GLASS_PRECISION {

struct AttentionOp final : Op, Detailed {
  Real factor;
  bool masked;
  Keep keep;     // n x m, if masked
  Mat A;         // the weights
  Mat K, V;      // if masked: copies without the keys that no query may see
  Mat dA, dE;    // scratch for backward; dE holds scale · dE
  AttentionOp(Real f, bool m, Keep k, Mat a, Mat k_seen, Mat v_seen, Mat da, Mat de)
      : factor(f), masked(m), keep(k), A(a), K(k_seen), V(v_seen), dA(da), dE(de) {}
  const char* name() const override { return "attention"; }
  void details(Details& d) const override { d.add("factor", factor), d.add("keep", keep); }  // no rows: every pair
  const char* hazard() const override { return "a score is too large for the number type, or an operand is not finite"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // every pair, hidden or not
    return {attention_flops(s, pass, numbers_in(A), s.x[0].cols, s.x[2].cols, false), usual_bytes(s, pass) + bytes_in(A)};
  }

  bool stores(int) const override { return true; }
  void forward(Step& s) override {
    Mat Q = s.x[0], Y = s.y;
    const Mat keys = masked ? K : s.x[1], values = masked ? V : s.x[2];
    if (masked) {
      s.be.select_seen(s.x[1], keep, K);
      s.be.select_seen(s.x[2], keep, V);
    }
    s.be.matmul(Product::NT, Q, keys, A, false);
    s.be.scale(A, factor, A);
    if (masked) s.be.select(A, keep, -std::numeric_limits<Real>::infinity(), A);
    s.be.softmax_rows(A, A);
    s.be.matmul(Product::NN, A, values, Y, false);
  }

  void backward(Step& s) override {
    Mat Q = s.x[0], dY = s.dy, dQ = s.dx[0], dK = s.dx[1], dV = s.dx[2];
    const Mat keys = masked ? K : s.x[1], values = masked ? V : s.x[2];
    if (dV.data) s.be.matmul(Product::TN, A, dY, dV, s.adds[2]);
    if (!dQ.data && !dK.data) return;
    s.be.matmul(Product::NT, dY, values, dA, false);
    s.be.fill(dE, 0);
    s.be.softmax_rows_backward(A, dA, dE);
    s.be.scale(dE, factor, dE);
    if (dQ.data) s.be.matmul(Product::NN, dE, keys, dQ, s.adds[0]);
    if (dK.data) s.be.matmul(Product::TN, dE, Q, dK, s.adds[1]);
  }
};

Var attention(Var Q, Var K, Var V, double scale, const Keep* keep, Where where) {
  require_same_tape("attention", {{"Q", Q}, {"K", K}, {"V", V}});
  const Shape q = Q.shape(), k = K.shape(), v = V.shape();
  if (q.cols != k.cols) {
    shape_error("attention", "queries and keys differ in width", {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
  if (k.rows != v.rows) {
    shape_error("attention", "there must be one value for each key", {{"Q", Q}, {"K", K}, {"V", V}}, "", where);
  }
  Tape& tape = *Q.tape;
  const Shape pairs{q.rows, k.rows};
  if (keep) require_keep("attention", Q, *keep, pairs, where);
  const Mat A = tape.scratch(pairs), dA = tape.scratch(pairs), dE = tape.scratch(pairs);
  return tape.record<AttentionOp>(Shape{q.rows, v.cols}, {Q, K, V}, where, Real(scale), keep != nullptr,
                                  keep ? tape.keep(*keep) : Keep{}, A, keep ? tape.scratch(k) : Mat{},
                                  keep ? tape.scratch(v) : Mat{}, dA, dE);
}

Mat kept_weights(const Node& n) {
  const AttentionOp* op = dynamic_cast<const AttentionOp*>(n.rule);
  if (!op) throw TapeError(std::string("weights_of: ") + n.op + " \"" + n.name + "\" was not made by attention()");
  return op->A;
}

Var weights_of(Var y, Where where) {
  if (const Var sparse = sparse_weights_of(y, where); sparse.tape) return sparse.named("A");
  return y.tape->expose(kept_weights(y.tape->node(y)), "A", where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
