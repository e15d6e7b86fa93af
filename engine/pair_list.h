// Which keys each query may use, as lists: a mask for those who will not look at every pair.
//
//   1 . . .        starts  0 1 3 5 7       query i may use the keys with the numbers starts_i to starts_(i+1) - 1
//   1 1 . .        keys    0 0 1 1 2 2 3   ascending for each query
//   . 1 1 .
//   . . 1 1        7 pairs of 16           numbers that belong to pairs are a column of so many rows, in this order
#pragma once

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct PairList {
  Ints starts;  // one more than there are queries
  Ints keys;    // one for each pair
  int begin(int query) const { return starts.data[query]; }
  int end(int query) const { return starts.data[query + 1]; }
  int key(int pair) const { return keys.data[pair]; }
};

}  // namespace GLASS_PRECISION
}  // namespace glass
