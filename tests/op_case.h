// One row for each op of engine/ops.h. From a row engine/op_checks.cpp derives every check that an op must pass,
// so a new op is tested by writing one builder, one naive reference and one row in op_cases.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/ops.h"
#include "tests/op_reference.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct OpCase {
  const char* name;                 // the op, and after a comma what is special: "attention, masked"
  std::vector<std::string> shapes;  // rows and columns of each input, as letters: "RC" is R x C, "1C" is 1 x C
  Var (*build)(const Var* x);       // records the op
  Table (*reference)(const Table* x);

  // Where an op needs more than that.
  Var (*wrong)(const Var* x) = nullptr;     // a mask or an index that does not fit: must throw ShapeError
  void (*prepare)(const Mat* x) = nullptr;  // changes the random inputs: to hard ones, or away from a kink
  const char* never_zero = "";              // the letters of the sizes that must not be 0
  bool constant = false;                    // no gradient goes through
  unsigned targets = 0;                     // bit i: input i must not want a gradient, it would get none

  std::string op() const;  // the name up to the comma
  bool sends_to(std::size_t input) const { return !(targets >> input & 1); }
};

const std::vector<OpCase>& op_cases();
const std::vector<OpCase>& more_op_cases();      // part of op_cases()
const std::vector<OpCase>& position_op_cases();  // part of op_cases()
const std::vector<OpCase>& weights_op_cases();
const std::vector<OpCase>& more_op_cases();   // part of op_cases()
const std::vector<OpCase>& flash_op_cases();  // likewise
const std::vector<OpCase>& more_op_cases();       // part of op_cases()
const std::vector<OpCase>& efficient_op_cases();  // the same

// A mask for the ops that take one. They copy it, so it may go away after the call.
struct TestMask {
  std::vector<unsigned char> allowed;
  Keep keep;

  TestMask(int queries, int keys) {
    for (int i = 0; i < queries; ++i)
      for (int j = 0; j < keys; ++j) allowed.push_back(sees(i, j));
    keep = {allowed.data(), queries, keys};
  }
};

// The same as lists. The op copies them, too.
struct TestPairs {
  std::vector<int> starts = {0}, keys;
  PairList pairs;

  TestPairs(int queries, int n_keys) {
    for (int i = 0; i < queries; ++i) {
      for (int j = 0; j < n_keys; ++j)
        if (sees(i, j)) keys.push_back(j);
      starts.push_back(int(keys.size()));
    }
    pairs = {{starts.data(), int(starts.size())}, {keys.data(), int(keys.size())}};
  }
};

// Row i moves to 1000 (i - 1): exp of it overflows or is 0, and one maximum for all rows does not help.
void far_apart(const Mat* x);
// One entry of each row is 1000 above the others, the second or the last.
void one_ahead(const Mat* x);

// The letters as numbers. No two of them are alike, so that a mix-up of rows and columns does not fit.
struct Sizes {
  int R = 3, C = 5, K = 4, M = 6;

  int& of(char letter);
  int number(char letter) const;  // also of '1', which is 1, and of 'T', which is kTaps K
  std::vector<Shape> shapes(const OpCase&) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
