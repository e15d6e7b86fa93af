#include "layers/attention/multi_head.h"

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const char* refusal(const Supports& can, Shape q, Shape k, const Call& call) {
  if (!can.lengths && q.rows != k.rows) return "needs as many queries as keys";
  if (!can.weights && call.weights) return "makes no matrix of weights that could be returned";
  if (can.causal && can.padding && can.any_mask) return nullptr;
  if (!call.allowed || call.allowed->hides_nothing()) return nullptr;
  if (!can.padding && call.allowed->is_padding()) return "cannot hide keys";
  if (!can.causal && call.allowed->is_causal() && !call.allowed->is_padding()) return "cannot be causal";
  if (!can.any_mask && !call.allowed->is_padding() && !call.allowed->is_causal()) return "cannot hide single pairs";
  return nullptr;
}

static void require(const Variant& variant, Shape q, Shape k, const Call& call) {
  if (call.allowed && (call.allowed->queries() != q.rows || call.allowed->keys() != k.rows)) {
    throw ShapeError(std::string(variant.name()) + " attention: the mask is " + to_text(call.allowed->queries(), call.allowed->keys()) +
                     " (queries x keys), but there are " + std::to_string(q.rows) + " queries and " + std::to_string(k.rows) + " keys");
  }
  if (const char* why = refusal(variant.supports(), q, k, call)) {
    throw ShapeError(std::string(variant.name()) + " attention " + why + " (" + std::to_string(q.rows) + " queries, " + std::to_string(k.rows) + " keys)");
  }
}

Var Variant::operator()(Var Q, Var K, Var V, const Call& call) const {
  require(*this, Q.shape(), K.shape(), call);
  return attend(Q, K, V, call);
}

Var Variant::all_heads(Var Q, Var K, Var V, const Heads& cut) const {
  require_heads(Q.shape(), K.shape(), V.shape(), cut);
  const Shape q = {Q.shape().rows / cut.batch, Q.shape().cols / cut.heads}, k = {K.shape().rows / cut.batch, K.shape().cols / cut.groups()};
  for (int b = 0; b < cut.batch; ++b) require(*this, q, k, {.allowed = cut.mask_of(b), .weights = cut.weights});
  return attend_all(Q, K, V, cut);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
