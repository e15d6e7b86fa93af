// What every way of attending has in common, so that batches, heads, grouped heads, the tests over masks and lengths,
// the table of lesson 23 and `tutorials/run diff` are written once.
#pragma once

#include <vector>

#include "engine/rng.h"
#include "engine/tape.h"
#include "layers/attention/mask.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Heads;  // layers/attention/multi_head.h

// What is asked of one head.
struct Call {
  const Mask* allowed = nullptr;        // null: every query sees every key
  int head = 0, heads = 1;              // which query head this is; slopes and tables differ from head to head
  std::vector<Var>* weights = nullptr;  // not null: the head appends its A, n x m, the one that it used
};

// What a variant can do. Anything else throws: nothing is approximated in silence.
struct Supports {
  bool causal = true;    // each query sees the keys up to its own
  bool padding = true;   // keys hidden from every query
  bool any_mask = true;  // any pair may be hidden
  bool lengths = true;   // other numbers of queries than of keys
  bool weights = true;   // there is an A to return
};

// One head: Y = attend(Q, K, V)         Q: n x d    K: m x d    V: m x d_v    Y: n x d_v
//
// With fewer queries than keys the queries are the last ones: query i stands at position i + m - n.
// Fields of the derived struct are its settings: a window, a table, a feature map.
struct Variant {
  virtual ~Variant() = default;
  virtual const char* name() const = 0;
  virtual Supports supports() const { return {}; }
  virtual void generators(std::vector<Rng*>&) const {}  // those that it draws from; see engine/recompute.h
  Var operator()(Var Q, Var K, Var V, const Call& = {}) const;  // throws ShapeError for what it does not support

  // All heads of all sequences in one line: (batch n) x (heads d_v). A Var without a tape where the variant has no such way.
  // multi_head asks first, and goes head by head then.
  Var all_heads(Var Q, Var K, Var V, const Heads&) const;

 protected:
  virtual Var attend(Var Q, Var K, Var V, const Call&) const = 0;
  virtual Var attend_all(Var, Var, Var, const Heads&) const { return {}; }
};

}  // namespace GLASS_PRECISION
}  // namespace glass
