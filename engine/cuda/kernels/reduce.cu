// Sums, dot products and lengths, reproducible to the bit: terms and finishes for engine/cuda/reduce.cuh.
// (kernels/sum.cu tells how such a sum comes to be fast.)
#include "engine/cuda/cuda.h"
#include "engine/cuda/reduce.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Entry {
  DeviceMat x;
  __device__ Sum operator()(int i, int j) const { return {x(i, j)}; }
};
struct Product2 {
  DeviceMat a, b;
  __device__ Sum operator()(int i, int j) const { return {double(a(i, j)) * b(i, j)}; }
};
struct ProductUnless0 {  // nothing where dy is 0, whatever y is there
  DeviceMat dy, y;
  __device__ Sum operator()(int i, int j) const { return {dy(i, j) != 0 ? double(dy(i, j)) * y(i, j) : 0}; }
};

// The numbers that the results go to: down a column, along a row, or a single one.
struct Line {
  float* data;
  std::ptrdiff_t step;
  __device__ float& operator[](int k) const { return data[k * step]; }
};
Line down(Mat column) { return {column.data, column.ld}; }
Line along(Mat row) { return {row.data, 1}; }

struct Set {
  double s;
  Line y;
  __device__ void operator()(int k, Sum v) const { y[k] = float(s * v.value); }
};
struct AddTo {
  double s;
  Line y;
  __device__ void operator()(int k, Sum v) const { y[k] += float(s * v.value); }
};
struct Root {
  Line y;
  __device__ void operator()(int k, Sum v) const { y[k] = float(sqrt(v.value)); }
};
struct SubQuotient {  // dc -= v / c
  Line c, dc;
  __device__ void operator()(int k, Sum v) const {
    if (v.value != 0) dc[k] -= float(v.value / c[k]);
  }
};

}  // namespace

void CudaBackend::sum(Mat x, Real s, Mat y) { reduce_all(x.rows, x.cols, Entry{x}, Set{s, along(y)}, pool, stream); }
void CudaBackend::add_sum(Mat x, Mat y) { reduce_all(x.rows, x.cols, Entry{x}, AddTo{1, along(y)}, pool, stream); }
void CudaBackend::add_dot(Mat a, Mat b, Mat y) {
  reduce_all(a.rows, a.cols, Product2{a, b}, AddTo{1, along(y)}, pool, stream);
}
void CudaBackend::norm(Mat x, Mat y) { reduce_all(x.rows, x.cols, Product2{x, x}, Root{along(y)}, pool, stream); }

void CudaBackend::add_row_sums(Real s, Mat x, Mat y) {
  reduce_rows(x.rows, x.cols, Entry{x}, AddTo{s, down(y)}, stream);
}
void CudaBackend::add_row_dots(Mat a, Mat b, Mat y) {
  reduce_rows(a.rows, a.cols, Product2{a, b}, AddTo{1, down(y)}, stream);
}
void CudaBackend::div_col_backward_col(Mat dy, Mat y, Mat c, Mat dc) {
  reduce_rows(dy.rows, dy.cols, ProductUnless0{dy, y}, SubQuotient{down(c), down(dc)}, stream);
}

void CudaBackend::add_col_sums(Real s, Mat x, Mat y) {
  reduce_cols(x.rows, x.cols, Entry{x}, AddTo{s, along(y)}, pool, stream);
}
void CudaBackend::add_col_dots(Mat a, Mat b, Mat y) {
  reduce_cols(a.rows, a.cols, Product2{a, b}, AddTo{1, along(y)}, pool, stream);
}
void CudaBackend::div_row_backward_row(Mat dy, Mat y, Mat r, Mat dr) {
  reduce_cols(dy.rows, dy.cols, ProductUnless0{dy, y}, SubQuotient{along(r), along(dr)}, pool, stream);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
