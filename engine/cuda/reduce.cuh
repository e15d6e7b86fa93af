// Reductions: all entries of a matrix, each row, or each column, joined to one value. A reduction is two small structs,
//
//   term(i, j)      what entry (i, j) brings: a Sum, or a First
//   finish(k, v)    what becomes of the value v of row or column k (0 for all)
//
// and three ways to run them, reduce_all, reduce_rows and reduce_cols. There are no atomics: every value is joined in
// an order that depends on the shape alone, so two runs give the same bits. Where many blocks work on one value, each
// writes its part to scratch memory of the pool, and a second kernel joins the parts ("two passes"). Harris 2007,
// "Optimizing Parallel Reduction in CUDA".
#pragma once

#include <climits>
#include <cmath>

#include "engine/cuda/each.cuh"
#include "engine/cuda/pool.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Sum {  // in double: in float, adding ones stops at 2^24
  double value;
  __device__ static Sum nothing() { return {0}; }
};
__device__ inline Sum joined(Sum a, Sum b) { return {a.value + b.value}; }
__device__ inline Sum of_lane(Sum v, int bits) { return {__shfl_xor_sync(kAllLanes, v.value, bits)}; }

// The first maximum or, if there is one, the first NaN.
struct First {
  float value;
  int place;
  __device__ static First nothing() { return {-INFINITY, INT_MAX}; }
};
__device__ inline bool beats(float b, float a) { return !isnan(a) && (b > a || isnan(b)); }
__device__ inline First joined(First a, First b) {
  if (beats(b.value, a.value)) return b;
  return beats(a.value, b.value) || a.place < b.place ? a : b;
}
__device__ inline First of_lane(First v, int bits) {
  return {__shfl_xor_sync(kAllLanes, v.value, bits), __shfl_xor_sync(kAllLanes, v.place, bits)};
}

// Over a warp, for every lane of it.
template <class T>
__device__ T warp_joined(T v) {
  for (int bits = 16; bits > 0; bits /= 2) v = joined(v, of_lane(v, bits));
  return v;
}

// Over a block of whole warps, for its first warp. Once in a kernel: `of_warps` is not free again before the kernel
// ends.
template <class T>
__device__ T block_joined(T v) {
  __shared__ T of_warps[32];
  const int t = int(threadIdx.y * blockDim.x + threadIdx.x), warps = int(blockDim.x * blockDim.y) / 32;
  v = warp_joined(v);
  if (t % 32 == 0) of_warps[t / 32] = v;
  __syncthreads();
  if (t < 32) v = warp_joined(t < warps ? of_warps[t] : T::nothing());
  return v;
}

// ---- all entries: a grid of blocks, each with a part of the rows and columns; then one block for the parts
template <class Term, class T>
__global__ void parts_kernel(Term term, int rows, int cols, T* parts) {
  T v = T::nothing();
  for (int i = int(blockIdx.y * blockDim.y + threadIdx.y); i < rows; i += int(gridDim.y * blockDim.y)) {
    for (int j = int(blockIdx.x * blockDim.x + threadIdx.x); j < cols; j += int(gridDim.x * blockDim.x)) {
      v = joined(v, T(term(i, j)));
    }
  }
  v = block_joined(v);
  if (threadIdx.x == 0 && threadIdx.y == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = v;
}

template <class T, class Finish>
__global__ void join_kernel(const T* parts, int n, Finish finish) {
  T v = T::nothing();
  for (int k = int(threadIdx.x); k < n; k += int(blockDim.x)) v = joined(v, parts[k]);
  v = block_joined(v);
  if (threadIdx.x == 0) finish(0, v);
}

template <class Term, class Finish>
void reduce_all(int rows, int cols, Term term, Finish finish, Pool& pool, cudaStream_t stream) {
  using T = decltype(term(0, 0));
  constexpr int kBlocks = 1024, kEntries = 4;  // at most so many blocks, at least so many entries for a thread
  const dim3 block = block_for(cols);
  const unsigned wide = at_most(ceil_div(cols, int(block.x) * kEntries) + (cols == 0), kBlocks);
  const unsigned high = at_most(ceil_div(rows, int(block.y)) + (rows == 0), kBlocks / int(wide));
  T* const parts = static_cast<T*>(pool.take(std::size_t(wide) * high * sizeof(T)));
  launch({dim3(wide, high), block, 0, stream}, parts_kernel<Term, T>, term, rows, cols, parts);
  launch({dim3(1), dim3(kThreads), 0, stream}, join_kernel<T, Finish>, parts, int(wide * high), finish);
  pool.give(parts);
}

// ---- rows: a warp for each, or a block for each if they are long
template <class Term, class Finish>
__global__ void rows_kernel(Term term, int rows, int cols, Finish finish) {
  const int i = int(blockIdx.x * blockDim.y + threadIdx.y);
  if (i >= rows) return;  // a warp has one row: it leaves as a whole
  auto v = decltype(term(0, 0))::nothing();
  for (int j = int(threadIdx.x); j < cols; j += int(blockDim.x)) v = joined(v, term(i, j));
  v = blockDim.x == 32 ? warp_joined(v) : block_joined(v);
  if (threadIdx.x == 0) finish(i, v);
}

template <class Term, class Finish>
void reduce_rows(int rows, int cols, Term term, Finish finish, cudaStream_t stream) {
  if (rows == 0) return;
  const dim3 block = cols <= 1024 ? dim3(32, kThreads / 32) : dim3(kThreads, 1);
  const dim3 grid(unsigned(ceil_div(rows, int(block.y))));
  launch({grid, block, 0, stream}, rows_kernel<Term, Finish>, term, rows, cols, finish);
}

// ---- columns: neighbouring threads have neighbouring columns; blocks have rows of their own, and then come the parts
constexpr int kColumnRows = 8;  // threads of a block on one column

template <class Term, class T>
__global__ void cols_kernel(Term term, int rows, int cols, T* parts) {
  __shared__ T of_rows[kColumnRows][32];
  const int tx = int(threadIdx.x), ty = int(threadIdx.y), j = int(blockIdx.x) * 32 + tx;
  T v = T::nothing();
  for (int i = int(blockIdx.y) * kColumnRows + ty; i < rows && j < cols; i += int(gridDim.y) * kColumnRows) {
    v = joined(v, T(term(i, j)));
  }
  of_rows[ty][tx] = v;
  __syncthreads();
  if (ty > 0 || j >= cols) return;
  for (int r = 1; r < kColumnRows; ++r) v = joined(v, of_rows[r][tx]);
  parts[std::ptrdiff_t(blockIdx.y) * cols + j] = v;
}

template <class T, class Finish>
__global__ void join_cols_kernel(const T* parts, int n, int cols, Finish finish) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= cols) return;
  T v = parts[j];
  for (int k = 1; k < n; ++k) v = joined(v, parts[std::ptrdiff_t(k) * cols + j]);
  finish(j, v);
}

template <class Term, class Finish>
void reduce_cols(int rows, int cols, Term term, Finish finish, Pool& pool, cudaStream_t stream) {
  using T = decltype(term(0, 0));
  if (cols == 0) return;
  constexpr int kHigh = 64, kRows = 32;  // at most so many parts of a column, of at least so many rows
  const unsigned high = at_most(ceil_div(rows, kRows) + (rows == 0), kHigh);
  T* const parts = static_cast<T*>(pool.take(std::size_t(high) * std::size_t(cols) * sizeof(T)));
  launch({dim3(unsigned(ceil_div(cols, 32)), high), dim3(32, kColumnRows), 0, stream}, cols_kernel<Term, T>, term, rows,
         cols, parts);
  launch({dim3(unsigned(ceil_div(cols, 128))), dim3(128), 0, stream}, join_cols_kernel<T, Finish>, parts, int(high),
         cols, finish);
  pool.give(parts);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
