#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CpuBackend::transpose(Mat x, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(j, i);
}

void CpuBackend::add_transposed(Mat x, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) += x(j, i);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
