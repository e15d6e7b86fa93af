// One number, a row or a column against every entry of a matrix: y_ij = f(i, j), see each.cuh.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// One number against all. It stays on the device: the host does not wait for it.
struct AddNumber {
  DeviceMat x;
  float s;
  __device__ float operator()(int i, int j) const { return x(i, j) + s; }
};
struct AddScalar {
  DeviceMat x, s;
  __device__ float operator()(int i, int j) const { return x(i, j) + s(0, 0); }
};
struct MulScalar {
  DeviceMat x, s;
  __device__ float operator()(int i, int j) const { return x(i, j) * s(0, 0); }
};
struct AddMulScalar {
  DeviceMat x, s, y;
  __device__ float operator()(int i, int j) const { return y(i, j) + x(i, j) * s(0, 0); }
};

// A row r: neighbouring threads read neighbouring numbers of it, and the cache keeps it for the next row.
struct AddRow {
  DeviceMat x, r;
  __device__ float operator()(int i, int j) const { return x(i, j) + r(0, j); }
};
struct SubRow {
  DeviceMat x, r;
  __device__ float operator()(int i, int j) const { return x(i, j) - r(0, j); }
};
struct MulRow {
  DeviceMat x, r;
  __device__ float operator()(int i, int j) const { return x(i, j) * r(0, j); }
};
struct DivRow {
  DeviceMat x, r;
  __device__ float operator()(int i, int j) const { return x(i, j) / r(0, j); }
};
struct AddMulRow {
  DeviceMat x, r, y;
  __device__ float operator()(int i, int j) const { return y(i, j) + x(i, j) * r(0, j); }
};
struct DivRowBackward {
  DeviceMat dy, r, dx;
  __device__ float operator()(int i, int j) const { return dy(i, j) != 0 ? dx(i, j) + dy(i, j) / r(0, j) : dx(i, j); }
};

// A column c: a warp on one row reads one number of it, once for all lanes.
struct AddCol {
  DeviceMat x, c;
  __device__ float operator()(int i, int j) const { return x(i, j) + c(i, 0); }
};
struct SubCol {
  DeviceMat x, c;
  __device__ float operator()(int i, int j) const { return x(i, j) - c(i, 0); }
};
struct MulCol {
  DeviceMat x, c;
  __device__ float operator()(int i, int j) const { return x(i, j) * c(i, 0); }
};
struct DivCol {
  DeviceMat x, c;
  __device__ float operator()(int i, int j) const { return x(i, j) / c(i, 0); }
};
struct AddMulCol {
  DeviceMat x, c, y;
  __device__ float operator()(int i, int j) const { return y(i, j) + x(i, j) * c(i, 0); }
};
struct DivColBackward {
  DeviceMat dy, c, dx;
  __device__ float operator()(int i, int j) const { return dy(i, j) != 0 ? dx(i, j) + dy(i, j) / c(i, 0) : dx(i, j); }
};

}  // namespace

void CudaBackend::add_number(Mat x, Real s, Mat y) { each(y, AddNumber{x, s}, stream); }
void CudaBackend::add_scalar(Mat x, Mat s, Mat y) { each(y, AddScalar{x, s}, stream); }
void CudaBackend::mul_scalar(Mat x, Mat s, Mat y) { each(y, MulScalar{x, s}, stream); }
void CudaBackend::add_mul_scalar(Mat x, Mat s, Mat y) { each(y, AddMulScalar{x, s, y}, stream); }
void CudaBackend::add_row(Mat x, Mat r, Mat y) { each(y, AddRow{x, r}, stream); }
void CudaBackend::sub_row(Mat x, Mat r, Mat y) { each(y, SubRow{x, r}, stream); }
void CudaBackend::mul_row(Mat x, Mat r, Mat y) { each(y, MulRow{x, r}, stream); }
void CudaBackend::div_row(Mat x, Mat r, Mat y) { each(y, DivRow{x, r}, stream); }
void CudaBackend::add_mul_row(Mat x, Mat r, Mat y) { each(y, AddMulRow{x, r, y}, stream); }
void CudaBackend::div_row_backward(Mat dy, Mat r, Mat dx) { each(dx, DivRowBackward{dy, r, dx}, stream); }
void CudaBackend::add_col(Mat x, Mat c, Mat y) { each(y, AddCol{x, c}, stream); }
void CudaBackend::sub_col(Mat x, Mat c, Mat y) { each(y, SubCol{x, c}, stream); }
void CudaBackend::mul_col(Mat x, Mat c, Mat y) { each(y, MulCol{x, c}, stream); }
void CudaBackend::div_col(Mat x, Mat c, Mat y) { each(y, DivCol{x, c}, stream); }
void CudaBackend::add_mul_col(Mat x, Mat c, Mat y) { each(y, AddMulCol{x, c, y}, stream); }
void CudaBackend::div_col_backward(Mat dy, Mat c, Mat dx) { each(dx, DivColBackward{dy, c, dx}, stream); }

}  // namespace GLASS_PRECISION
}  // namespace glass
