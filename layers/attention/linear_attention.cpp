#include "layers/attention/linear_attention.h"

namespace glass {
inline namespace GLASS_PRECISION {

Supports LinearAttention::supports_of(LinearForm form) {
  if (form == LinearForm::quadratic) return {};
  return {.any_mask = false, .weights = false};
}

Var LinearAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  const Var a = elu_plus_one(Q).named("a"), b = elu_plus_one(hide_keys(K, call.allowed)).named("b");
  return attend_by_features(form, a, b, V, eps, call);
}

// Column by column: true where the query sees at least one key.
static std::vector<unsigned char> queries_that_see(const Mask& allowed) {
  std::vector<unsigned char> sees(std::size_t(allowed.queries()));
  for (int i = 0; i < allowed.queries(); ++i)
    for (int j = 0; j < allowed.keys(); ++j)
      if (allowed(i, j)) sees[std::size_t(i)] = 1;
  return sees;
}

static Var add_eps(Var den, double eps, const Mask* allowed) {
  if (eps != 0) den = add_number(den, eps);
  if (allowed) {
    std::vector<unsigned char> sees = queries_that_see(*allowed);
    den = mask(den, {sees.data(), allowed->queries(), 1}, 1);
  }
  return den.named("den");
}

Var normalise(Var num, Var den, double eps, const Mask* allowed) { return div_col(num, add_eps(den, eps, allowed)); }

static Var quadratic(Var a, Var b, Var V, double eps, const Call& call) {
  Var W = matmul_nt(a, b);
  if (call.allowed) W = mask(W, call.allowed->keep(), 0);
  W.named("W");
  return mix_by(normalise(W, row_sum(W), eps, call.allowed), V, call);
}

static Var everywhere(Var a, Var b, Var V, double eps, const Call& call) {
  const Var S = matmul_tn(b, V).named("S"), z = col_sum(b).named("z");
  return normalise(matmul(a, S), matmul_nt(a, z), eps, call.allowed).named("Y");
}

static Var causal(Var a, Var b, Var V, double eps, const Call& call) {
  const int d_v = V.shape().cols;
  Tape& tape = *a.tape;
  const Var sums = causal_sums(a, b, V).named("sums");
  return normalise(tape.cols(sums, 0, d_v), tape.cols(sums, d_v, 1), eps, call.allowed).named("Y");
}

Var attend_by_features(LinearForm form, Var a, Var b, Var V, double eps, const Call& call) {
  b = hide_keys(b, call.allowed);
  V = hide_keys(V, call.allowed);
  if (form == LinearForm::quadratic) return quadratic(a, b, V, eps, call);
  return call.allowed && !call.allowed->is_padding() ? causal(a, b, V, eps, call) : everywhere(a, b, V, eps, call);
}

LinearState::LinearState(Tape& tape, int D, int d_v)
    : S(tape.constant(Matrix(Shape{D, d_v}), "S")), z(tape.constant(Matrix(Shape{1, D}), "z")) {}

Var LinearState::operator()(Var q, Var k, Var v, double eps) {
  const Var a = elu_plus_one(q), b = elu_plus_one(k);
  S = add(S, matmul_tn(b, v)).named("S");
  z = add(z, b).named("z");
  return normalise(matmul(a, S), matmul_nt(a, z), eps, nullptr).named("y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
