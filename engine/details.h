// What an op keeps beside its operands: the factor of a scale, a mask, the targets of a loss. With them and the operands anybody can
// compute the line again, in another language too: --json writes them down. An op lists the fields that its formula needs, no scratch.
#pragma once

#include <vector>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Detail {
  const char* name;
  double number = 0;  // or, if there is memory behind one of these, that
  Ints ints{};
  Keep keep{};
  enum { one_number, whole_numbers, keep_mask } kind = one_number;
};

struct Details {
  std::vector<Detail> all;
  void add(const char* name, double number) { all.push_back({name, number}); }
  void add(const char* name, Ints ints) { all.push_back({name, 0, ints, {}, Detail::whole_numbers}); }
  void add(const char* name, Keep keep) { all.push_back({name, 0, {}, keep, Detail::keep_mask}); }
};

struct Detailed {  // an op that has such fields is one of these, too
  virtual void details(Details&) const = 0;

 protected:
  ~Detailed() = default;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
