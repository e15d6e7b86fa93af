// Maxima, powers and limits, entry by entry: y_ij = f(i, j), see each.cuh.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// Is a taken? A tie is a's, and a NaN is passed on.
__device__ bool first(float a, float b) { return a >= b || isnan(a); }

struct Maximum {
  DeviceMat a, b;
  __device__ float operator()(int i, int j) const { return first(a(i, j), b(i, j)) ? a(i, j) : b(i, j); }
};
// dx is da if `of_first`, else db.
struct MaximumBackward {
  DeviceMat a, b, dy, dx;
  bool of_first;
  __device__ float operator()(int i, int j) const {
    return first(a(i, j), b(i, j)) == of_first ? dx(i, j) + dy(i, j) : dx(i, j);
  }
};

struct Pow {
  DeviceMat a, b;
  __device__ float operator()(int i, int j) const { return powf(a(i, j), b(i, j)); }
};
struct PowLeft {
  DeviceMat a, b, dy, da;
  __device__ float operator()(int i, int j) const {
    if (dy(i, j) == 0 || b(i, j) == 0) return da(i, j);
    return da(i, j) + dy(i, j) * b(i, j) * powf(a(i, j), b(i, j) - 1);
  }
};
struct PowRight {
  DeviceMat a, b, y, dy, db;
  __device__ float operator()(int i, int j) const {
    if (dy(i, j) == 0 || (a(i, j) == 0 && b(i, j) >= 0)) return db(i, j);
    return db(i, j) + dy(i, j) * y(i, j) * logf(a(i, j));
  }
};

struct Clamp {
  DeviceMat x;
  float low, high;
  __device__ float operator()(int i, int j) const {
    return x(i, j) < low ? low : x(i, j) > high ? high : x(i, j);  // a NaN is passed on
  }
};
struct ClampBackward {
  DeviceMat x;
  float low, high;
  DeviceMat dy, dx;
  __device__ float operator()(int i, int j) const {
    return x(i, j) >= low && x(i, j) <= high ? dx(i, j) + dy(i, j) : dx(i, j);
  }
};

}  // namespace

void CudaBackend::maximum(Mat a, Mat b, Mat y) { each(y, Maximum{a, b}, stream); }
void CudaBackend::maximum_backward(Mat a, Mat b, Mat dy, Mat da, Mat db) {
  if (da.data) each(da, MaximumBackward{a, b, dy, da, true}, stream);
  if (db.data) each(db, MaximumBackward{a, b, dy, db, false}, stream);
}
void CudaBackend::pow(Mat a, Mat b, Mat y) { each(y, Pow{a, b}, stream); }
void CudaBackend::pow_backward_left(Mat a, Mat b, Mat dy, Mat da) { each(da, PowLeft{a, b, dy, da}, stream); }
void CudaBackend::pow_backward_right(Mat a, Mat b, Mat y, Mat dy, Mat db) {
  each(db, PowRight{a, b, y, dy, db}, stream);
}
void CudaBackend::clamp(Mat x, Real low, Real high, Mat y) { each(y, Clamp{x, low, high}, stream); }
void CudaBackend::clamp_backward(Mat x, Real low, Real high, Mat dy, Mat dx) {
  each(dx, ClampBackward{x, low, high, dy, dx}, stream);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
