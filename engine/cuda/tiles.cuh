// How a product brings tiles of its operands to shared memory, and stores its result: matmul.cu and matmul_ladder.cu.
#pragma once

#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {

struct Operand {  // A or B, as the tiles see it: k down, and m (a row or a column of C) to the right
  const float* data;
  int ld, m, k;
  bool aligned;
};

// The 4 numbers that this thread brings: neighbours along k (kAlongK), or along m. Outside: 0.
template <bool kAlongK>
__device__ float4 fetch(const Operand& x, int m, int k) {
  float4 v = make_float4(0, 0, 0, 0);
  if (m >= x.m || k >= x.k) return v;
  const float* p = x.data + (kAlongK ? std::ptrdiff_t(m) * x.ld + k : std::ptrdiff_t(k) * x.ld + m);
  const int inside = kAlongK ? x.k - k : x.m - m;
  if (inside >= 4 && x.aligned) return *reinterpret_cast<const float4*>(p);
  v.x = p[0];
  if (inside > 1) v.y = p[1];
  if (inside > 2) v.z = p[2];
  if (inside > 3) v.w = p[3];
  return v;
}

struct Result {
  DeviceMat C;
  const float* row;  // added to every row of C, or nullptr
  bool accumulate, aligned;
};

__device__ inline void store(const Result& y, int i, int j, const float* sum) {  // 4 neighbours
  if (i >= y.C.rows || j >= y.C.cols) return;
  float* c = y.C.row(i) + j;
  if (y.aligned && j + 4 <= y.C.cols) {
    float4 v = make_float4(sum[0], sum[1], sum[2], sum[3]);
    if (y.accumulate) {
      const float4 old = *reinterpret_cast<const float4*>(c);
      v = make_float4(old.x + v.x, old.y + v.y, old.z + v.z, old.w + v.w);
    }
    if (y.row) v = make_float4(v.x + y.row[j], v.y + y.row[j + 1], v.z + y.row[j + 2], v.w + y.row[j + 3]);
    *reinterpret_cast<float4*>(c) = v;
    return;
  }
  for (int q = 0; q < 4 && j + q < y.C.cols; ++q) {
    c[q] = (y.accumulate ? c[q] + sum[q] : sum[q]) + (y.row ? y.row[j + q] : 0.0f);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
