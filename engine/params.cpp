#include "engine/params.h"

#include <cmath>

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

void Param::set(Mat values) {
  if (values.shape() != value.shape()) {
    throw ShapeError("the parameter " + name + " is " + to_text(value.rows(), value.cols()) +
                     ", it cannot be set to a matrix of " + to_text(values.rows, values.cols));
  }
  value.home()->from_host(values, value);  // into the same memory: tapes point at it
  changed();
}

static double draw(const Start& start, Shape s, Rng& rng) {
  switch (start.kind) {
    case Init::zeros: return 0;
    case Init::ones: return 1;
    case Init::xavier: {
      const double bound = std::sqrt(6.0 / (s.rows + s.cols));
      return rng.uniform(-bound, bound);
    }
    case Init::normal: return start.deviation * rng.normal();
  }
  return 0;
}

Param& ParamStore::make(const std::string& name, Shape s, Start how, Rng& rng) {
  if (find(name)) throw InputError("there are two parameters called " + name);
  Matrix start(s);
  for (int r = 0; r < s.rows; ++r)
    for (int c = 0; c < s.cols; ++c) start(r, c) = Real(draw(how, s, rng));
  all.push_back({name, Matrix(start, home_), Matrix(s, home_), 0});
  return all.back();
}

Param* ParamStore::find(const std::string& name) {
  for (Param& p : all)
    if (p.name == name) return &p;
  return nullptr;
}

void ParamStore::zero_grad() {
  for (Param& p : all) p.grad.home()->fill(p.grad, 0);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
