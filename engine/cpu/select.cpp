#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CpuBackend::select(Mat x, Keep keep, Real other, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = keep(i, j) ? x(i, j) : other;
}

void CpuBackend::add_selected(Mat dy, Keep keep, Mat dx) {
  for (int i = 0; i < dx.rows; ++i)
    for (int j = 0; j < dx.cols; ++j)
      if (keep(i, j)) dx(i, j) += dy(i, j);
}

void CpuBackend::choose(Mat a, Mat b, Keep keep, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = keep(i, j) ? a(i, j) : b(i, j);
}

void CpuBackend::add_unselected(Mat dy, Keep keep, Mat dx) {
  for (int i = 0; i < dx.rows; ++i)
    for (int j = 0; j < dx.cols; ++j)
      if (!keep(i, j)) dx(i, j) += dy(i, j);
}

static bool seen(Keep keep, int key) {
  for (int query = 0; query < keep.rows; ++query)
    if (keep(query, key)) return true;
  return false;
}

void CpuBackend::select_seen(Mat x, Keep keep, Mat y) {
  for (int i = 0; i < y.rows; ++i) {
    const bool take = seen(keep, i);
    for (int j = 0; j < y.cols; ++j) y(i, j) = take ? x(i, j) : 0;
  }
}

void CpuBackend::add_seen(Mat dy, Keep keep, Mat dx) {
  for (int i = 0; i < dx.rows; ++i) {
    if (!seen(keep, i)) continue;
    for (int j = 0; j < dx.cols; ++j) dx(i, j) += dy(i, j);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
