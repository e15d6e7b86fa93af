// Parameters: named matrices that outlive the tape. Each owns its value and its gradient, so gradients of
// several backward passes add up where the optimiser reads them, until zero_grad().
#pragma once

#include <deque>
#include <string>

#include "engine/mat.h"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Param {
  std::string name;
  Matrix value, grad;
  unsigned version = 0;  // goes up whenever the value changes, so that a tape recorded before can tell

  void set(Mat values);  // host memory of the same shape; throws ShapeError
  void changed() { ++version; }  // call it after writing to `value` directly
};

enum class Init {
  zeros,
  ones,
  xavier,  // uniform in ±sqrt(6 / (rows + cols))   Glorot and Bengio 2010, equation 16
  normal,  // mean 0
};

struct Start {  // how a parameter begins
  Init kind;
  double deviation;  // of Init::normal
  Start(Init k, double d = 1) : kind(k), deviation(d) {}  // so that Init::zeros alone will do
};

class ParamStore {
 public:
  explicit ParamStore(Backend* home = nullptr) : home_(home) {}
  Param& make(const std::string& name, Shape, Start, Rng&);  // throws InputError if the name is taken
  Param* find(const std::string& name);                      // nullptr if there is none
  void zero_grad();

  std::deque<Param> all;  // a deque: references stay valid

 private:
  Backend* home_;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
