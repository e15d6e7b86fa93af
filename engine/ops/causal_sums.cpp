// The running sums of causal linear attention      a: n x D    b: m x D    V: m x d_v    Y: n x (d_v + 1)
//
//   S_t = Σ_j b_j v_jᵀ    z_t = Σ_j b_j     over the keys j <= t + m - n - lag; S: D x d_v, z: 1 x D
//   Y_t = [a_t S_t | a_t·z_t]               numerator and normaliser side by side; views take them apart
//
//   with g_t = dY_t:   da_t = S_t g_t (z_t for the last column)
//   and, backward in time, R_j = Σ a_t g_tᵀ over the queries that have seen key j:
//   db_j = R_j [v_j 1]      dv_j = R_jᵀ b_j, without the last column
//
// Like attention, the last query is aligned with the last key. lag = 0 takes the query's own key in; lag = w leaves out the
// last w. Katharopoulos et al. 2020, "Transformers are RNNs", section 3.3.1: no S_t is stored, backward sums again.
#include <algorithm>

#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct CausalSumsOp final : Op, Detailed {
  int lag;
  explicit CausalSumsOp(int l) : lag(l) {}
  const char* name() const override { return "causal_sums"; }
  void details(Details& d) const override { d.add("lag", lag); }
  const char* hazard() const override { return "a sum of products is too large for the number type, or holds 0 times infinity"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // a state of D (d_v + 1): each key added to it once, each query with it once
    const int n = s.x[0].rows, m = s.x[1].rows;
    const double state = 2.0 * s.x[0].cols * s.y.cols, keys = std::max(0, std::min(m, m - lag)), queries = n;
    if (pass == Pass::forward) return {state * (keys + queries), usual_bytes(s, pass)};
    const bool da = s.dx[0].data, db = s.dx[1].data, dV = s.dx[2].data;
    return {state * (da * (keys + queries) + (db || dV) * queries + db * keys + dV * keys), usual_bytes(s, pass)};
  }
  void forward(Step& s) override { s.be.causal_sums(s.x[0], s.x[1], s.x[2], lag, s.y); }
  void backward(Step& s) override {
    Mat a = s.x[0], b = s.x[1], V = s.x[2], dY = s.dy, da = s.dx[0], db = s.dx[1], dV = s.dx[2];
    s.be.causal_sums_backward(a, b, V, lag, dY, da, db, dV);
  }
};

Var causal_sums(Var a, Var b, Var V, int lag, Where where) {
  require_same_tape("causal_sums", {{"a", a}, {"b", b}, {"V", V}});
  const Shape q = a.shape(), k = b.shape(), v = V.shape();
  if (q.cols != k.cols) shape_error("causal_sums", "queries and keys differ in the number of features", {{"a", a}, {"b", b}, {"V", V}}, "", where);
  if (k.rows != v.rows) shape_error("causal_sums", "there must be one value for each key", {{"a", a}, {"b", b}, {"V", V}}, "", where);
  if (lag < 0) shape_error("causal_sums", "lag = " + std::to_string(lag) + " would look ahead", {{"a", a}, {"b", b}, {"V", V}}, "", where);
  return a.tape->record<CausalSumsOp>(Shape{q.rows, v.cols + 1}, {a, b, V}, where, lag);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
