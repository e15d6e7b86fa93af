// Parameters: named matrices that outlive the tape. Each has its value and its gradient, so gradients of
// several backward passes add up where the optimiser reads them, until zero_grad().
//
// The numbers of all parameters lie side by side in a few blocks, so an optimiser goes over a whole model in a few calls:
//
//   matrices  | W_q     | W_k     | W_v     | ...      values and gradients alike
//   rows      | b_q | b_k | gain | bias | ...          1 x C, apart: they do not decay
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "engine/mat.h"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Param {
  Param(std::string called, Matrix v, Matrix g) : name(std::move(called)), value(std::move(v)), grad(std::move(g)) {}
  std::string name;
  const Matrix value, grad;  // their numbers change, their place does not: tapes point at it
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

// Memory for many parameters, in lines of 64 bytes: a Mat of `used` rows is every number in it. What is left over at the end of
// a parameter's last line is 0 and stays 0 in every update.
struct ParamBlock {
  bool matrices;  // of parameters of more than one row
  Matrix values, grads;
  int used = 0;
  Mat value() const { return values.view().block(0, 0, used, values.cols()); }
  Mat grad() const { return grads.view().block(0, 0, used, grads.cols()); }
};

class ParamStore {
 public:
  explicit ParamStore(Backend* home = nullptr) : home_(home) {}
  ParamStore(ParamStore&&) = default;
  Param& make(const std::string& name, Shape, Start, Rng&);  // throws InputError if the name is taken
  Param* find(const std::string& name);                      // nullptr if there is none
  void zero_grad();

  std::deque<Param> all;  // a deque: references stay valid
  std::deque<ParamBlock> blocks;

 private:
  friend class Moments;
  struct Place {
    std::size_t block;
    int line;
  };
  Place room(Shape);

  Backend* home_;
  std::vector<Place> places_;  // one for each parameter
};

// A number beside each number of a store, 0 at first: what an optimiser remembers. It lies as the store's own do.
class Moments {
 public:
  explicit Moments(const ParamStore&);  // for the parameters that the store has now
  Moments(Moments&&) = default;
  std::size_t size() const { return each_.size(); }
  const Matrix& operator[](std::size_t parameter) const { return each_[parameter]; }
  Mat block(std::size_t b) const { return blocks_[b]; }

 private:
  std::vector<Matrix> blocks_, each_;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
