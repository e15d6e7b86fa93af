#include "layers/attention/mask.h"

#include <algorithm>
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
  std::vector<unsigned char> seen(std::size_t(keys_), 0);
  for (int i = 0; i < queries_; ++i)
    for (int j = 0; j < keys_; ++j) seen[std::size_t(j)] |= (*this)(i, j);
  return {seen.begin(), seen.end()};
}

bool Mask::hides_nothing() const { return std::find(allowed_.begin(), allowed_.end(), 0) == allowed_.end(); }

bool Mask::is_padding() const {  // every row is the last
  const unsigned char *row = allowed_.data(), *last = row + std::ptrdiff_t(std::max(queries_, 1) - 1) * keys_;
  for (int i = 0; i + 1 < queries_; ++i, row += keys_)
    if (!std::equal(row, row + keys_, last)) return false;
  return true;
}

bool Mask::is_causal() const {  // every row is the last, as far as it may look; the last looks as far as there are keys
  const unsigned char *row = allowed_.data(), *last = row + std::ptrdiff_t(std::max(queries_, 1) - 1) * keys_;
  for (int i = 0; i < queries_; ++i, row += keys_) {
    const int seen = std::max(0, i + 1 + keys_ - queries_);
    if (!std::equal(row, row + seen, last) || std::find(row + seen, row + keys_, 1) != row + keys_) return false;
  }
  return true;
}

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
