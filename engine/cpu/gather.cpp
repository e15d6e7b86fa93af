#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CpuBackend::gather_rows(Mat table, Ints ids, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = table(ids.data[i], j);
}

void CpuBackend::scatter_rows(Mat dy, Ints ids, Mat dtable) {
  for (int i = 0; i < dy.rows; ++i)
    for (int j = 0; j < dy.cols; ++j) dtable(ids.data[i], j) += dy(i, j);  // an index may come twice
}

}  // namespace GLASS_PRECISION
}  // namespace glass
