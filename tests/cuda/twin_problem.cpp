#include "tests/cuda/twin_problem.h"

#include <cstdlib>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Shape shape_of(char letter, Shape s) {
  switch (letter) {
    case 'm':
      return s;
    case 't':
      return {s.cols, s.rows};
    case 'r':
      return {1, s.cols};
    case 'c':
      return {s.rows, 1};
  }
  return {1, 1};
}

// From 0.5 to 2 in size, of both signs, and every seventh 0.
static Matrix some_zeros(Shape s, Rng& rng) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i) {
    for (int j = 0; j < s.cols; ++j) {
      const double size = rng.uniform(0.5, 2) * (rng.uniform() < 0.5 ? -1 : 1);
      m(i, j) = rng.uniform() < 1.0 / 7 ? 0 : Real(size);
    }
  }
  return m;
}

Matrix on_device(CudaBackend& be, Mat host) {
  Matrix there(host.shape(), &be);
  be.from_host(host, there);
  return there;
}

Matrix to_host(CudaBackend& be, Mat device) {
  Matrix here(device.shape());
  be.to_host(device, here);
  return here;
}

// Equal, or both not a number; else close enough.
static bool agree(Real got, Real want, bool to_the_bit) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (got == want) return std::signbit(got) == std::signbit(want);
  if (to_the_bit || !std::isfinite(got) || !std::isfinite(want)) return false;
  return std::fabs(double(got) - want) <= kRounding.absolute + kRounding.relative * std::fabs(double(want));
}

std::string twin_difference(CudaBackend& be, const TwinCase& c, Shape shape, bool views) {
  Rng rng(std::uint64_t(shape.rows) * 1000 + std::uint64_t(shape.cols));
  const std::string operands = c.operands;
  std::vector<Matrix> here, there;
  std::vector<Mat> v, w;
  for (char letter : operands) {
    const Shape s = shape_of(letter, shape);
    const int r0 = views ? 1 : 0, c0 = views ? 3 : 0;
    here.push_back(some_zeros({s.rows + 2 * r0, s.cols + 2 * c0}, rng));
    there.push_back(on_device(be, here.back()));
    v.push_back(here.back().view().block(r0, c0, s.rows, s.cols));
    w.push_back(there.back().view().block(r0, c0, s.rows, s.cols));
  }
  c.run(cpu_backend(), v.data());
  c.run(be, w.data());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Matrix got = to_host(be, there[k]);
    for (int i = 0; i < got.rows(); ++i) {
      for (int j = 0; j < got.cols(); ++j) {
        if (agree(got(i, j), here[k](i, j), c.to_the_bit)) continue;
        return std::string(c.name) + ": operand " + std::to_string(k) + entry_text(i, j) + " of a " +
               to_text(got.rows(), got.cols()) + " is " + to_text(double(got(i, j))) + ", on the CPU it is " +
               to_text(double(here[k](i, j)));
      }
    }
  }
  return "";
}

const std::vector<Shape>& twin_shapes() {
  static const std::vector<Shape> all{{1, 1},   {1, 33},   {33, 1},   {7, 5},    {31, 32}, {32, 31}, {32, 32},
                                      {33, 33}, {3, 1030}, {300, 20}, {65, 129}, {0, 4},   {4, 0}};
  return all;
}

ThreadOrder::ThreadOrder(const std::string& order) {
  const char* now = std::getenv("GLASS_CUDA_ORDER");
  had_ = now != nullptr;
  if (had_) before_ = now;
  setenv("GLASS_CUDA_ORDER", order.c_str(), 1);
}
ThreadOrder::~ThreadOrder() {
  if (had_)
    setenv("GLASS_CUDA_ORDER", before_.c_str(), 1);
  else
    unsetenv("GLASS_CUDA_ORDER");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
