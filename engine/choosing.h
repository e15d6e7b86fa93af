// What an op lets the data decide: where a maximum sat, which k were the largest. A replay keeps it (Step::decide), so that a checker
// differentiates the function that backward did. Who asks whether a fresh run would decide otherwise needs to put it back.
#pragma once

#include <cstddef>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Choice {
  void* data;  // memory of the backend
  std::size_t bytes;
  explicit Choice(Ints places) : data(places.data), bytes(std::size_t(places.n) * sizeof(int)) {}
  explicit Choice(Keep chosen) : data(chosen.data), bytes(std::size_t(chosen.rows) * std::size_t(chosen.cols)) {}
  explicit Choice(Mat support) : data(support.data), bytes(std::size_t(support.rows) * std::size_t(support.ld) * sizeof(Real)) {}
};

struct Choosing {  // an op that decides is one of these, too
  virtual Choice choice() const = 0;

 protected:
  ~Choosing() = default;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
