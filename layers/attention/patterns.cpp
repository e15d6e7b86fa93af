#include "layers/attention/patterns.h"

#include <algorithm>

#include "engine/errors.h"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

// ---- lists

KeyLists::KeyLists(const Mask& mask) : KeyLists(mask.queries(), mask.keys()) {
  for (int i = 0; i < queries(); ++i)
    for (int j = 0; j < keys; ++j)
      if (mask(i, j)) of[std::size_t(i)].push_back(j);
}

bool KeyLists::has(int query, int key) const {
  const std::vector<int>& mine = of[std::size_t(query)];
  return std::binary_search(mine.begin(), mine.end(), key);
}

long KeyLists::pairs() const {
  long n = 0;
  for (const auto& mine : of) n += long(mine.size());
  return n;
}

std::vector<int> KeyLists::empty() const {
  std::vector<int> all;
  for (int i = 0; i < queries(); ++i)
    if (of[std::size_t(i)].empty()) all.push_back(i);
  return all;
}

Mask KeyLists::mask() const {
  Mask mask(queries(), keys, false);
  for (int i = 0; i < queries(); ++i)
    for (const int j : of[std::size_t(i)]) mask.set(i, j, true);
  return mask;
}

std::vector<std::string> KeyLists::picture() const {
  std::vector<std::string> lines;
  for (const auto& mine : of) {
    lines.emplace_back(std::size_t(keys), '.');
    for (const int j : mine) lines.back()[std::size_t(j)] = '#';
  }
  return lines;
}

static void require_same_size(const char* what, int queries, int keys, int other_queries, int other_keys) {
  if (queries == other_queries && keys == other_keys) return;
  throw ShapeError(std::string(what) + ", one " + to_text(queries, keys) + " and one " + to_text(other_queries, other_keys));
}

KeyLists operator|(const KeyLists& a, const KeyLists& b) {
  require_same_size("two patterns are joined", a.queries(), a.keys, b.queries(), b.keys);
  KeyLists either(a.queries(), a.keys);
  for (std::size_t i = 0; i < a.of.size(); ++i) {
    std::set_union(a.of[i].begin(), a.of[i].end(), b.of[i].begin(), b.of[i].end(), std::back_inserter(either.of[i]));
  }
  return either;
}

KeyLists operator&(const KeyLists& lists, const Mask& mask) {
  require_same_size("a pattern and a mask are joined", lists.queries(), lists.keys, mask.queries(), mask.keys());
  KeyLists both(lists.queries(), lists.keys);
  for (int i = 0; i < lists.queries(); ++i)
    for (const int j : lists.of[std::size_t(i)])
      if (mask(i, j)) both.of[std::size_t(i)].push_back(j);
  return both;
}

FlatLists::FlatLists(const KeyLists& lists) : starts{0} {
  for (const auto& mine : lists.of) {
    keys.insert(keys.end(), mine.begin(), mine.end());
    starts.push_back(int(keys.size()));
  }
}

// ---- patterns

static void require_at_least(const char* pattern, const char* what, int number, int least) {
  if (number >= least) return;
  throw InputError(std::string(pattern) + ": " + what + " must be at least " + std::to_string(least) + ", not " + std::to_string(number));
}

// Each query gets the keys first, first + step, ... up to last, as far as they exist.
static void add_keys(KeyLists& lists, int query, int first, int last, int step = 1) {
  if (first < 0) first = (first % step + step) % step;  // the same steps, from the first key that exists
  for (int j = first; j <= std::min(last, lists.keys - 1); j += step) lists.of[std::size_t(query)].push_back(j);
}

KeyLists all_keys(int n, int m) {
  KeyLists lists(n, m);
  for (int i = 0; i < n; ++i) add_keys(lists, i, 0, m - 1);
  return lists;
}

KeyLists window(int n, int m, int w) { return dilated_window(n, m, w, 1); }

KeyLists dilated_window(int n, int m, int w, int gap) {
  require_at_least("window", "the width", w, 0);
  require_at_least("window", "the gap", gap, 1);
  if (w % 2) throw InputError("window: the total width must be even, half on each side, not " + std::to_string(w));
  KeyLists lists(n, m);
  for (int i = 0, p = m - n; i < n; ++i, ++p) add_keys(lists, i, p - w / 2 * gap, p + w / 2 * gap, gap);
  return lists;
}

KeyLists global_tokens(int n, int m, const std::vector<int>& tokens) {
  KeyLists lists(n, m);
  for (const int token : tokens) {
    if (token < 0 || token >= m) throw InputError("global_tokens: there is no token " + std::to_string(token) + " among " + std::to_string(m));
  }
  std::vector<int> sorted = tokens;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (int i = 0, p = m - n; i < n; ++i, ++p) {
    if (std::binary_search(sorted.begin(), sorted.end(), p)) {
      add_keys(lists, i, 0, m - 1);
    } else {
      lists.of[std::size_t(i)] = sorted;
    }
  }
  return lists;
}

KeyLists causal_window(int n, int m, int w) {
  require_at_least("causal_window", "the width, which counts the query itself,", w, 1);
  KeyLists lists(n, m);
  for (int i = 0, p = m - n; i < n; ++i, ++p) add_keys(lists, i, p - w + 1, p);
  return lists;
}

KeyLists strided_near(int n, int m, int l) {
  require_at_least("strided_near", "the stride", l, 1);
  return causal_window(n, m, l + 1);
}

KeyLists strided_far(int n, int m, int l) {
  require_at_least("strided_far", "the stride", l, 1);
  KeyLists lists(n, m);
  for (int i = 0, p = m - n; i < n; ++i, ++p) add_keys(lists, i, p % l, p, l);
  return lists;
}

KeyLists fixed_near(int n, int m, int l) {
  require_at_least("fixed_near", "the stretch", l, 1);
  KeyLists lists(n, m);
  for (int i = 0, p = m - n; i < n; ++i, ++p) add_keys(lists, i, p / l * l, p);
  return lists;
}

KeyLists fixed_far(int n, int m, int l, int c) {
  require_at_least("fixed_far", "the stretch", l, 1);
  require_at_least("fixed_far", "the number of summary keys", c, 1);
  KeyLists lists(n, m);
  for (int i = 0, p = m - n; i < n; ++i, ++p)
    for (int stretch = 0; stretch <= p; stretch += l) add_keys(lists, i, stretch + std::max(0, l - c), std::min(p, stretch + l - 1));
  return lists;
}

KeyLists with_random(KeyLists lists, int r, std::uint64_t seed) {
  require_at_least("with_random", "the number of random keys", r, 0);
  Rng rng(seed);
  for (std::size_t i = 0; i < lists.of.size(); ++i) {
    std::vector<int>& mine = lists.of[i];
    for (int k = 0; k < r && int(mine.size()) < lists.keys; ++k) {
      int j = int(rng.uniform() * (lists.keys - int(mine.size())));  // the j-th of those that are missing
      std::size_t at = 0;
      for (; at < mine.size() && mine[at] <= j; ++at) ++j;
      mine.insert(mine.begin() + std::ptrdiff_t(at), j);
    }
  }
  return lists;
}

KeyLists bigbird(int blocks, int r, std::uint64_t seed) {
  require_at_least("bigbird", "the number of blocks", blocks, 1);
  return with_random(window(blocks, blocks, 2) | global_tokens(blocks, blocks, {0, blocks - 1}), r, seed);
}

KeyLists in_blocks(const KeyLists& blocks, int b, int n, int m) {
  require_at_least("in_blocks", "the size of a block", b, 1);
  if (long(blocks.keys) * b < m || long(blocks.queries()) * b < m) {
    throw ShapeError("in_blocks: " + to_text(blocks.queries(), blocks.keys) + " blocks of " + std::to_string(b) + " do not cover " + std::to_string(m) +
                     " tokens");
  }
  KeyLists lists(n, m);
  for (int i = 0, p = m - n; i < n; ++i, ++p) {
    if (p < 0) continue;
    for (const int block : blocks.of[std::size_t(p / b)]) add_keys(lists, i, block * b, block * b + b - 1);
  }
  return lists;
}

KeyLists two_hops(const KeyLists& second, const KeyLists& first) {
  require_same_size("two hops are made over two patterns", second.queries(), second.keys, first.queries(), first.keys);
  KeyLists reached(second.queries(), first.keys);
  for (std::size_t i = 0; i < second.of.size(); ++i) {
    std::vector<bool> seen(std::size_t(first.keys), false);
    for (const int j : second.of[i])
      for (const int k : first.of[std::size_t(j)]) seen[std::size_t(k)] = true;
    for (int k = 0; k < first.keys; ++k)
      if (seen[std::size_t(k)]) reached.of[i].push_back(k);
  }
  return reached;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
