#include "engine/cpu/cpu.h"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Each row has a random sequence of its own, so the choice depends on seed, row and column alone: the same on every
// device, for any number of threads, and in every replay.

static Rng choices(std::uint64_t seed, int row) { return Rng(seed, std::uint64_t(row)); }

static Real kept_factor(double p) { return p < 1 ? Real(1 / (1 - p)) : Real(0); }

void CpuBackend::dropout(Mat x, double p, std::uint64_t seed, Mat y) {
  for (int i = 0; i < y.rows; ++i) {
    Rng rng = choices(seed, i);
    for (int j = 0; j < y.cols; ++j) y(i, j) = rng.uniform() < p ? 0 : x(i, j) * kept_factor(p);
  }
}

void CpuBackend::dropout_backward(Mat dy, double p, std::uint64_t seed, Mat dx) {
  for (int i = 0; i < dx.rows; ++i) {
    Rng rng = choices(seed, i);
    for (int j = 0; j < dx.cols; ++j)
      if (rng.uniform() >= p) dx(i, j) += dy(i, j) * kept_factor(p);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
