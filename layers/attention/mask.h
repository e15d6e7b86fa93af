// The one place where masks are made, for every attention variant.
//
//   rows are queries, columns are keys, TRUE = "may attend".
//
//   causal(3, 3)   causal(2, 4)    window(4, 4, 2)   visible({1, 1, 0}, 2)   a & b: both must allow it
//    1 . .          1 1 1 .         1 . . .           1 1 .
//    1 1 .          1 1 1 1         1 1 . .           1 1 .
//    1 1 1                          . 1 1 .
//                                   . . 1 1
#pragma once

#include <vector>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

class Mask {
 public:
  Mask(int queries, int keys, bool allowed = true);
  // A query sees the keys up to itself; the last query is aligned with the last key (earlier keys are a cache).
  static Mask causal(int queries, int keys);
  // Causal, and of these keys only the last w: the query's own and w - 1 before it. Throws InputError unless w > 0.
  static Mask window(int queries, int keys, int w);
  // keys[j] true: key j may be seen, by every query. False: padding.
  static Mask visible(const std::vector<bool>& keys, int queries);

  bool operator()(int query, int key) const { return keep()(query, key); }
  void set(int query, int key, bool allowed);  // throws ShapeError outside
  friend Mask operator&(const Mask& a, const Mask& b);  // throws ShapeError if the sizes differ
  Keep keep() const { return {const_cast<unsigned char*>(allowed_.data()), queries_, keys_}; }
  int queries() const { return queries_; }
  int keys() const { return keys_; }

  // What kind of mask it is, for variants that cannot do every kind.
  bool hides_nothing() const;
  bool is_padding() const;         // every query sees the same keys
  bool is_causal() const;          // causal(queries, keys), perhaps joined with padding
  std::vector<bool> seen() const;  // keys that at least one query may use

 private:
  int queries_, keys_;
  std::vector<unsigned char> allowed_;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
