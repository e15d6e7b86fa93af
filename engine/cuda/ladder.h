// Numbered versions of a kernel, slow to fast: lesson 41. Each computes what version 1 computes, for any sizes and any
// views; matrices are in memory of the device. Plain C++: no CUDA syntax.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "engine/cuda/pool.h"
#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ProductVersion {
  int number;
  const char* name;
  void (*run)(Mat A, Mat B, Mat C, cudaStream_t);  // C = A B
};
std::span<const ProductVersion> cuda_matmul_ladder();

// A matrix rounded to bfloat16, in memory of the device. With zeros around it, so that tiles need no edge.
struct Rounded {
  Pool& pool;
  void* data = nullptr;
  int rows, cols;

  Rounded(Mat x, Pool&, cudaStream_t);
  ~Rounded();
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
};
struct TensorVersion {  // on tensor cores: they continue the ladder of products
  int number;
  const char* name;
  void (*run)(const Rounded& A, const Rounded& B, Mat C, cudaStream_t);  // C = A B
};
std::span<const TensorVersion> cuda_tensor_ladder();

struct SoftmaxVersion {
  int number;
  const char* name;
  void (*run)(Mat x, Mat y, cudaStream_t);  // y = softmax of each row of x.   y may be x
};
std::span<const SoftmaxVersion> cuda_softmax_ladder();

struct LayerNormVersion {
  int number;
  const char* name;
  void (*run)(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y, cudaStream_t);
};
std::span<const LayerNormVersion> cuda_layer_norm_ladder();

// The way back along its rows: dx, and the means that the columns need (rows doubles of the device).
struct NormRowsVersion {
  int number;
  const char* name;
  void (*run)(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, double* means, bool accumulate, cudaStream_t);  // dx += (or =)
};
std::span<const NormRowsVersion> cuda_norm_rows_ladder();

// What the columns of a layer norm need: dgain and dbias += sums over the rows. means: rows x 1 doubles of the device.
struct ColumnSumsVersion {
  int number;
  const char* name;
  void (*run)(Mat x, const double* means, Mat rstd, Mat dy, Mat dgain, Mat dbias, Pool& scratch, cudaStream_t);
};
std::span<const ColumnSumsVersion> cuda_column_sums_ladder();

void multiply_by_warps(Mat A, Mat B, Mat C, cudaStream_t);  // version 6, where the backend has it

}  // namespace GLASS_PRECISION
}  // namespace glass
