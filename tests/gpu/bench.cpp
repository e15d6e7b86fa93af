// Times the kernels on a GPU, beside cuBLAS and beside what the machine can do at most. One line a case, for table.py:
//   KIND,NAME,SHAPE,MILLISECONDS,RATE,UNIT
// The median of 20 runs after 3 that warm up; inputs are random, for zeros draw less power and run faster.
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/flash_ladder.h"
#include "engine/cuda/ladder.h"
#include "engine/cuda/sum_ladder.h"
#include "engine/rng.h"

using namespace glass;

static void check(cublasStatus_t s) {
  if (s != CUBLAS_STATUS_SUCCESS) throw CudaError("cuBLAS: status " + std::to_string(int(s)));
}

// `work`: operations or bytes of one run.
static void line(CudaBackend& be, const char* kind, const std::string& name, const std::string& shape, double work, const char* unit, const std::function<void()>& run) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  float spent = 0;
  for (int i = 0; i < 23 && spent < 1500; ++i) {  // a slow one is not run as often
    check(cudaEventRecord(begin, be.stream));
    run();
    check(cudaEventRecord(end, be.stream));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    spent += ms;
    if (i >= 3 || ms > 200) times.push_back(ms);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  const double ms = times[times.size() / 2];
  std::printf("%s,%s,%s,%.4f,%.1f,%s\n", kind, name.c_str(), shape.c_str(), ms, work / ms / (unit[0] == 'T' ? 1e9 : 1e6), unit);
  std::fflush(stdout);
}

static Matrix chance(CudaBackend& be, int rows, int cols, std::uint64_t seed) {
  Matrix x(Shape{rows, cols}), there(Shape{rows, cols}, &be);
  Rng rng(seed);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) x(i, j) = i < 64 ? Real(rng.uniform() * 2 - 1) : x(i % 64, (j + i) % cols);
  be.from_host(x, there);
  return there;
}

struct Half {
  CudaBackend& be;
  HalfMat view;
  Half(CudaBackend& b, Mat x) : be(b), view{static_cast<__nv_bfloat16*>(b.alloc(std::size_t(x.rows) * std::size_t(x.cols) * 2)), x.rows, x.cols, x.cols} { to_half(x, view, be.stream); }
  Half(const Half&) = delete;
  ~Half() { be.free(view.data); }
};

static std::string version(int number) { return "version " + std::to_string(number); }

static void products(CudaBackend& be, cublasHandle_t h, int n, bool as_ceiling) {
  const Matrix a = chance(be, n, n, 1), b = chance(be, n, n, 2), c(Shape{n, n}, &be);
  const Half a16(be, a), b16(be, b);
  const float one = 1, zero = 0;
  const double work = 2.0 * n * n * n;
  const std::string shape = std::to_string(n) + "^3";
  const auto in_float = [&] { check(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.view().data, n, a.view().data, n, &zero, c.view().data, n)); };
  const auto in_half = [&] {
    check(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b16.view.data, CUDA_R_16BF, n, a16.view.data, CUDA_R_16BF, n, &zero, c.view().data, CUDA_R_32F, n,
                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  };
  check(cublasSetMathMode(h, CUBLAS_PEDANTIC_MATH));
  line(be, as_ceiling ? "ceiling" : "product float", as_ceiling ? "product float" : "cuBLAS", shape, work, "TFLOP/s", in_float);
  check(cublasSetMathMode(h, CUBLAS_DEFAULT_MATH));
  line(be, as_ceiling ? "ceiling" : "product bf16", as_ceiling ? "product bf16" : "cuBLAS", shape, work, "TFLOP/s", in_half);
  if (as_ceiling) return;
  for (const ProductVersion& v : cuda_matmul_ladder())
    line(be, "product float", version(v.number), shape, work, "TFLOP/s", [&] { v.run(a, b, c, be.stream); });
  const Rounded A(a, be.pool, be.stream), B(b, be.pool, be.stream);
  for (const TensorVersion& v : cuda_tensor_ladder())
    line(be, "product bf16", version(v.number), shape, work, "TFLOP/s", [&] { v.run(A, B, c, be.stream); });
}

static void copy_ceiling(CudaBackend& be) {
  const std::size_t bytes = std::size_t(1) << 30;
  void *from = be.alloc(bytes), *to = be.alloc(bytes);
  line(be, "ceiling", "copy", "1 GiB", 2.0 * double(bytes), "GB/s", [&] { check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, be.stream)); });
  be.free(from);
  be.free(to);
}

static void sums(CudaBackend& be) {
  const Matrix x = chance(be, 1, 1 << 26, 5), y(Shape{1, 1}, &be);
  for (const SumVersion& v : cuda_sum_ladder())
    line(be, "sum", version(v.number), "2^26", 4.0 * x.cols(), "GB/s", [&] { v.run(x, y, be.pool, be.stream); });
}

// The least that must be moved: each input read once, each output written once.
static void rows(CudaBackend& be) {
  const int n = 16384, c = 4096;
  const Matrix x = chance(be, n, c, 1), dy = chance(be, n, c, 2), gain = chance(be, 1, c, 3), bias = chance(be, 1, c, 4);
  const Matrix y(Shape{n, c}, &be), dx(Shape{n, c}, &be), rstd(Shape{n, 1}, &be), dgain(Shape{1, c}, &be), dbias(Shape{1, c}, &be);
  const std::string shape = std::to_string(n) + " x " + std::to_string(c);
  const double one = 4.0 * n * c;
  line(be, "add", "backend", shape, 3 * one, "GB/s", [&] { be.add(x, dy, y); });
  for (const SoftmaxVersion& v : cuda_softmax_ladder())
    line(be, "softmax", version(v.number), shape, 2 * one, "GB/s", [&] { v.run(x, y, be.stream); });
  for (const LayerNormVersion& v : cuda_layer_norm_ladder())
    line(be, "layer norm", version(v.number), shape, 2 * one, "GB/s", [&] { v.run(x, gain, bias, 1e-5, rstd, y, be.stream); });
  double* means = static_cast<double*>(be.pool.take(std::size_t(n) * sizeof(double)));
  for (const NormRowsVersion& v : cuda_norm_rows_ladder())
    line(be, "layer norm dx", version(v.number), shape, 3 * one, "GB/s", [&] { v.run(x, gain, rstd, dy, dx, means, false, be.stream); });
  be.pool.give(means);
  // dx is added to: it is read, too
  line(be, "layer norm backward", "backend", shape, 4 * one, "GB/s", [&] { be.layer_norm_backward(x, gain, rstd, dy, dx, dgain, dbias, true); });
}

// Operations as in the FlashAttention papers: 4 heads length² width forward, 2.5 times that backward, half if causal.
static void attention(CudaBackend& be, int d, bool causal) {
  const int heads = 16 * (2048 / d) / 4, length = 4096;
  const Matrix Q = chance(be, length, heads * d, 1), K = chance(be, length, heads * d, 2), V = chance(be, length, heads * d, 3), dY = chance(be, length, heads * d, 4);
  const Matrix Y(Q.shape(), &be), L(Shape{length, heads}, &be), D(Shape{length, heads}, &be), counts(Shape{1, 2}, &be);
  const Matrix dQ(Q.shape(), &be), dK(Q.shape(), &be), dV(Q.shape(), &be);
  const Half q(be, Q), k(be, K), v(be, V), y(be, Y), dy(be, dY);
  Tiling t;
  t.heads = t.kv_heads = heads, t.causal = causal;
  const Real scale = Real(1 / std::sqrt(double(d)));
  const std::string shape = std::to_string(heads) + " heads x " + std::to_string(length) + " x " + std::to_string(d) + (causal ? " causal" : "");
  const double work = 4.0 * heads * double(length) * length * d / (causal ? 2 : 1);
  for (int number = causal ? 4 : 1; number <= kFlashVersions; ++number)
    line(be, "attention float", version(number), shape, work, "TFLOP/s", [&] { flash_forward(number, Q, K, V, scale, t, Y, L, counts, be.stream); });
  line(be, "attention bf16", "tensor cores", shape, work, "TFLOP/s", [&] { flash_tensor(q.view, k.view, v.view, scale, t, y.view, L, be.stream); });
  flash_row_sums(Y, dY, {}, D, be.stream);
  for (int number = 2; number <= kFlashBackwardVersions; ++number)
    line(be, "attention backward float", version(number), shape, 2.5 * work, "TFLOP/s",
         [&] { flash_backward(number, Q, K, V, scale, t, L, D, dY, dQ, dK, dV, be.stream); });
  line(be, "attention backward bf16", "tensor cores", shape, 2.5 * work, "TFLOP/s",
       [&] { flash_tensor_backward(q.view, k.view, v.view, scale, t, L, D, dy.view, dQ, dK, dV, be.stream); });
}

int main() {
  int devices = 0;
  const cudaError_t answer = cudaGetDeviceCount(&devices);
  if (answer != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "bench_gpu: no GPU here: cudaGetDeviceCount says \"%s\"\n", cudaGetErrorString(answer));
    return 2;
  }
  CudaBackend be;
  cublasHandle_t h;
  check(cublasCreate(&h));
  check(cublasSetStream(h, be.stream));
  copy_ceiling(be);
  products(be, h, 8192, true);
  products(be, h, 4096, false);
  rows(be);
  sums(be);
  for (int d : {64, 128})
    for (bool causal : {false, true}) attention(be, d, causal);
  check(cublasDestroy(h));
}
