// Sums, products and quotients entry by entry, and functions of one number: y_ij = f(i, j), see each.cuh.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Add {
  DeviceMat a, b;
  __device__ float operator()(int i, int j) const { return a(i, j) + b(i, j); }
};
struct Sub {
  DeviceMat a, b;
  __device__ float operator()(int i, int j) const { return a(i, j) - b(i, j); }
};
struct Mul {
  DeviceMat a, b;
  __device__ float operator()(int i, int j) const { return a(i, j) * b(i, j); }
};
struct Div {
  DeviceMat a, b;
  __device__ float operator()(int i, int j) const { return a(i, j) / b(i, j); }
};
struct Scale {
  float s;
  DeviceMat x;
  __device__ float operator()(int i, int j) const { return s * x(i, j); }
};
struct AddScaled {
  float s;
  DeviceMat x, y;
  __device__ float operator()(int i, int j) const { return y(i, j) + s * x(i, j); }
};
struct AddProduct {
  DeviceMat a, b, y;
  __device__ float operator()(int i, int j) const { return y(i, j) + a(i, j) * b(i, j); }
};
struct AddQuotient {
  DeviceMat a, b, y;
  __device__ float operator()(int i, int j) const { return b(i, j) != 0 ? y(i, j) + a(i, j) / b(i, j) : y(i, j); }
};

// The two halves of a quotient's gradient. Where dy is 0 nothing is added, whatever the slope.
struct DivLeft {
  DeviceMat dy, b, da;
  __device__ float operator()(int i, int j) const { return dy(i, j) != 0 ? da(i, j) + dy(i, j) / b(i, j) : da(i, j); }
};
struct DivRight {
  DeviceMat dy, y, b, db;
  __device__ float operator()(int i, int j) const {
    return dy(i, j) != 0 ? db(i, j) - dy(i, j) * y(i, j) / b(i, j) : db(i, j);
  }
};

// One f for the whole launch: all threads of a warp take the same case of the switch in engine/functions.h.
struct Map {
  Function f;
  DeviceMat x;
  __device__ float operator()(int i, int j) const { return value(f, x(i, j)); }
};
struct MapBackward {
  Function f;
  DeviceMat x, y, dy, dx;
  __device__ float operator()(int i, int j) const {
    return dy(i, j) != 0 ? dx(i, j) + dy(i, j) * slope(f, x(i, j), y(i, j)) : dx(i, j);
  }
};

}  // namespace

void CudaBackend::add(Mat a, Mat b, Mat y) { each(y, Add{a, b}, stream); }
void CudaBackend::sub(Mat a, Mat b, Mat y) { each(y, Sub{a, b}, stream); }
void CudaBackend::mul(Mat a, Mat b, Mat y) { each(y, Mul{a, b}, stream); }
void CudaBackend::div(Mat a, Mat b, Mat y) { each(y, Div{a, b}, stream); }
void CudaBackend::scale(Mat x, Real s, Mat y) { each(y, Scale{s, x}, stream); }
void CudaBackend::map(Function f, Mat x, Mat y) { each(y, Map{f, x}, stream); }
void CudaBackend::map_backward(Function f, Mat x, Mat y, Mat dy, Mat dx) {
  each(dx, MapBackward{f, x, y, dy, dx}, stream);
}
void CudaBackend::add_scaled(Real s, Mat x, Mat y) { each(y, AddScaled{s, x, y}, stream); }
void CudaBackend::add_product(Mat a, Mat b, Mat y) { each(y, AddProduct{a, b, y}, stream); }
void CudaBackend::add_quotient(Mat a, Mat b, Mat y) { each(y, AddQuotient{a, b, y}, stream); }
void CudaBackend::div_backward_left(Mat dy, Mat b, Mat da) { each(da, DivLeft{dy, b, da}, stream); }
void CudaBackend::div_backward_right(Mat dy, Mat y, Mat b, Mat db) { each(db, DivRight{dy, y, b, db}, stream); }

}  // namespace GLASS_PRECISION
}  // namespace glass
