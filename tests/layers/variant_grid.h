// What every way of attending must pass, over masks, batches, heads and lengths.
#pragma once

#include <string>
#include <vector>

#include "layers/attention/multi_head.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Grid {
  bool same_as_plain = false;  // exact: values and all gradients are those of the steps
  std::vector<int> lengths = {1, 2, 3, 7};
  int d = 4, d_v = 4;          // width of one head
  unsigned seed = 17;          // of the random inputs
  bool empty_rows = true;      // a query that sees nothing gives a row of zeros (false: it cannot happen)
};

// Runs `variant` on everything that it says it supports: values and gradients against differences (and the plain form),
// rows that see nothing, hidden keys whose content must not matter, the future that must not be seen. And what it does
// not support must throw ShapeError. Reports through Catch2's CHECK.
void check_variant(const Variant& variant, const Grid& = {});

// One run of several heads.
struct HeadsRun {
  Tape tape;
  Var Q, K, V, Y;
  HeadsRun(const Variant&, const Matrix& q, const Matrix& k, const Matrix& v, const Heads&, const Matrix& dY);
};

}  // namespace GLASS_PRECISION
}  // namespace glass
