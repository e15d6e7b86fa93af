// Who may use whom, as lists of keys, and the patterns of the literature.
//
//   causal_window(4, 4, 2)     # . . .      query 0: 0
//                              # # . .      query 1: 0 1       the window counts the query itself
//                              . # # .      query 2: 1 2
//                              . . # #      query 3: 2 3       7 pairs of 16
//
// n queries, m keys. With fewer queries than keys the queries are the last ones: query i stands at p = i + m - n.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/pair_list.h"
#include "layers/attention/mask.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct KeyLists {
  int keys;                          // how many there are to choose from
  std::vector<std::vector<int>> of;  // of[i]: those that query i may use, ascending

  KeyLists(int queries, int m) : keys(m), of(std::size_t(queries)) {}
  explicit KeyLists(const Mask&);
  int queries() const { return int(of.size()); }
  bool has(int query, int key) const;
  long pairs() const;              // how many pairs there are in all: what attention over them costs
  std::vector<int> empty() const;  // the queries that may use no key
  Mask mask() const;
  std::vector<std::string> picture() const;  // a line for each query, # for a pair, . for none

  friend bool operator==(const KeyLists&, const KeyLists&) = default;
  friend KeyLists operator|(const KeyLists& a, const KeyLists& b);      // either allows it; throws ShapeError if sizes differ
  friend KeyLists operator&(const KeyLists& lists, const Mask& mask);  // both allow it; asks the mask about listed pairs only
};

// What the op sparse_attention reads, as long as it lives.
struct FlatLists {
  std::vector<int> starts, keys;
  explicit FlatLists(const KeyLists&);
  PairList pairs() { return {{starts.data(), int(starts.size())}, {keys.data(), int(keys.size())}}; }
};

// A width, a distance, a block below 1 is an InputError, as is a key that does not exist.
KeyLists all_keys(int n, int m);
// Beltagy, Peters, Cohan 2020, "Longformer". w is the total width, even: w/2 keys on either side, and the query's own.
KeyLists window(int n, int m, int w);                                  // |p - j| <= w/2
KeyLists dilated_window(int n, int m, int w, int gap);                 // p - j = t gap, |t| <= w/2
KeyLists global_tokens(int n, int m, const std::vector<int>& tokens);  // they see all, and all see them
// The window of decoders: w counts the query itself.
KeyLists causal_window(int n, int m, int w);  // 0 <= p - j < w
// Child, Gray, Radford, Sutskever 2019, "Generating Long Sequences with Sparse Transformers": two patterns each, to be
// used by turns, by different heads, or joined. l about √n: then two hops lead everywhere.
KeyLists strided_near(int n, int m, int l);      // p - l <= j <= p
KeyLists strided_far(int n, int m, int l);       // j <= p, p - j a multiple of l
KeyLists fixed_near(int n, int m, int l);        // j <= p, in the same stretch of l keys
KeyLists fixed_far(int n, int m, int l, int c);  // j <= p, one of the last c of any stretch
// Zaheer et al. 2020, "Big Bird". r more keys for each query, drawn once from those that it does not have yet.
KeyLists with_random(KeyLists, int r, std::uint64_t seed);
// A pattern of blocks, first + last global, window of 3, r random; and each pair of blocks as b x b pairs of tokens.
KeyLists bigbird(int blocks, int r, std::uint64_t seed);
KeyLists in_blocks(const KeyLists& blocks, int b, int n, int m);

// What reaches query i in two steps: key k if i uses a key that uses k. Needs as many queries as keys.
KeyLists two_hops(const KeyLists& second, const KeyLists& first);

}  // namespace GLASS_PRECISION
}  // namespace glass
