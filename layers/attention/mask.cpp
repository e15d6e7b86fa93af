#include "layers/attention/mask.h"

#include <string>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

Mask::Mask(int queries, int keys, bool allowed)
    : queries_(queries), keys_(keys), allowed_(std::size_t(count({queries, keys})), allowed) {}

Mask Mask::causal(int queries, int keys) {
  Mask m(queries, keys, false);
  for (int i = 0; i < queries; ++i)
    for (int j = 0; j <= i + keys - queries; ++j) m.set(i, j, true);
  return m;
}

Mask Mask::window(int queries, int keys, int w) {
  if (w <= 0) throw InputError("a window of " + std::to_string(w) + " keys: it must hold at least the query's own");
  Mask m(queries, keys, false);
  for (int i = 0; i < queries; ++i) {
    const int own = i + keys - queries;
    for (int j = 0; j <= own; ++j) m.set(i, j, own - j < w);
  }
  return m;
}

Mask Mask::visible(const std::vector<bool>& keys, int queries) {
  Mask m(queries, int(keys.size()), false);
  for (int i = 0; i < queries; ++i)
    for (int j = 0; j < m.keys_; ++j) m.set(i, j, keys[std::size_t(j)]);
  return m;
}

void Mask::set(int query, int key, bool allowed) {
  if (query < 0 || query >= queries_ || key < 0 || key >= keys_) index_error(query, key, queries_, keys_);
  allowed_[std::size_t(query) * std::size_t(keys_) + std::size_t(key)] = allowed;
}

std::vector<bool> Mask::seen() const {
  std::vector<bool> seen(std::size_t(keys_), false);
  for (int i = 0; i < queries_; ++i)
    for (int j = 0; j < keys_; ++j)
      if ((*this)(i, j)) seen[std::size_t(j)] = true;
  return seen;
}

bool Mask::hides_nothing() const { return allowed_ == Mask(queries_, keys_).allowed_; }

bool Mask::is_padding() const { return allowed_ == visible(seen(), queries_).allowed_; }

bool Mask::is_causal() const { return allowed_ == (causal(queries_, keys_) & visible(seen(), queries_)).allowed_; }

Mask operator&(const Mask& a, const Mask& b) {
  if (a.queries_ != b.queries_ || a.keys_ != b.keys_) {
    throw ShapeError("two masks are joined, one " + to_text(a.queries_, a.keys_) + " and one " + to_text(b.queries_, b.keys_));
  }
  Mask both = a;
  for (std::size_t i = 0; i < both.allowed_.size(); ++i) both.allowed_[i] = a.allowed_[i] && b.allowed_[i];
  return both;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
