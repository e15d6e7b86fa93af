#include "engine/params.h"

#include <algorithm>
#include <climits>
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

static constexpr int kLine = 64 / int(sizeof(Real));
static constexpr std::ptrdiff_t kMost = 1 << 18;  // lines of a new block (16 MiB): as many as there are, within limits

static std::ptrdiff_t least(bool matrices) { return matrices ? 1024 : 64; }

static std::ptrdiff_t lines(Shape s) { return (count(s) + kLine - 1) / kLine; }

static Matrix part(const Matrix& block, int line, Shape s) {
  return Matrix::lent({block.view().row(line), s.rows, s.cols, s.cols}, *block.home());
}

ParamStore::Place ParamStore::room(Shape s) {
  const std::ptrdiff_t wanted = lines(s);
  std::ptrdiff_t so_far = 0;
  std::size_t at = blocks.size();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].matrices != (s.rows > 1)) continue;
    so_far += blocks[b].values.rows();
    if (blocks[b].values.rows() - blocks[b].used >= wanted) at = b;
  }
  if (at == blocks.size()) {
    const std::ptrdiff_t size = std::max(wanted, std::clamp(so_far, least(s.rows > 1), kMost));
    if (size > INT_MAX) throw ShapeError("a parameter of " + to_text(s.rows, s.cols) + " is too large");
    const Shape shape{int(size), kLine};
    blocks.push_back({s.rows > 1, Matrix(shape, home_), Matrix(shape, home_)});
  }
  const int line = blocks[at].used;
  blocks[at].used += int(wanted);
  return {at, line};
}

Param& ParamStore::make(const std::string& name, Shape s, Start how, Rng& rng) {
  if (find(name)) throw InputError("there are two parameters called " + name);
  Matrix start(s);
  for (int r = 0; r < s.rows; ++r)
    for (int c = 0; c < s.cols; ++c) start(r, c) = Real(draw(how, s, rng));
  const Place at = room(s);
  const ParamBlock& block = blocks[at.block];
  places_.push_back(at);
  all.emplace_back(name, part(block.values, at.line, s), part(block.grads, at.line, s));
  Param& p = all.back();
  p.value.home()->from_host(start, p.value);
  return p;
}

Param* ParamStore::find(const std::string& name) {
  for (Param& p : all)
    if (p.name == name) return &p;
  return nullptr;
}

void ParamStore::zero_grad() {
  for (const ParamBlock& b : blocks) b.grads.home()->fill(b.grad(), 0);
}

Moments::Moments(const ParamStore& store) {
  for (const ParamBlock& b : store.blocks) blocks_.emplace_back(Shape{b.used, kLine}, b.values.home());
  for (std::size_t k = 0; k < store.all.size(); ++k) {
    const ParamStore::Place at = store.places_[k];
    each_.push_back(part(blocks_[at.block], at.line, store.all[k].value.shape()));
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
