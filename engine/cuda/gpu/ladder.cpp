// Times every version of the ladders on this machine's GPU, the products beside cuBLAS: medians of 20, after 3 to warm
// up, of random numbers (zeros draw less power and run faster). Checked against cuBLAS before it is timed.
//   cuda_ladder [SIZE]        default: 4096
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/cuda/products.h"
#include "engine/rng.h"

using namespace glass;

namespace {

CudaBackend* gpu = nullptr;

double milliseconds(const std::function<void()>& run) {
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> all;
  for (int i = 0; i < 23; ++i) {
    check(cudaEventRecord(begin, gpu->stream));
    run();
    check(cudaEventRecord(end, gpu->stream));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) all.push_back(ms);
    if (i >= 4 && ms > 300) break;  // a slow version is not worth a minute
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::nth_element(all.begin(), all.begin() + std::ptrdiff_t(all.size() / 2), all.end());
  return double(all[all.size() / 2]);
}

Matrix random(int rows, int cols) {
  static Rng rng(1);
  Matrix host(Shape{rows, cols}), there(Shape{rows, cols}, gpu);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) host(i, j) = Real(rng.normal());
  gpu->from_host(host, there);
  return there;
}

double gap(const Matrix& a, const Matrix& b) {  // of a sample of the entries
  const HostView x(*gpu, a), y(*gpu, b);
  double worst = 0;
  for (int i = 0; i < a.rows(); i += 7)
    for (int j = 0; j < a.cols(); j += 11) worst = std::fmax(worst, std::fabs(double(x(i, j)) - double(y(i, j))));
  return worst;
}

void line(int number, const char* name, double ms, double work, const char* unit, double rival, double error) {
  std::printf("%d  %-30s %9.3f ms %9.1f %s", number, name, ms, work / ms, unit);
  if (rival > 0) std::printf(" %6.1f %% of cuBLAS", 100 * rival / ms);
  std::printf("   largest error %.1e\n", error);
  std::fflush(stdout);
}

void products_of(int n) {
  const Matrix A = random(n, n), B = random(n, n), C(Shape{n, n}, gpu), want(Shape{n, n}, gpu);
  const double flop = 2.0 * n * n * n * 1e-9;  // for TFLOP/s from milliseconds
  const double rival = milliseconds([&] { library_matmul(Product::NN, A, B, want, false, false, gpu->stream); });
  std::printf("C = A B, %d x %d, float. cuBLAS: %.3f ms, %.1f TFLOP/s\n", n, n, rival, flop / rival);
  for (const ProductVersion& v : cuda_matmul_ladder()) {
    const double ms = milliseconds([&] { v.run(A, B, C, gpu->stream); });
    line(v.number, v.name, ms, flop, "TFLOP/s", rival, gap(C, want));
  }
  const Rounded a(A, gpu->pool, gpu->stream), b(B, gpu->pool, gpu->stream);
  for (const TensorVersion& v : cuda_tensor_ladder()) {  // the error is that of rounding to bfloat16
    const double ms = milliseconds([&] { v.run(a, b, C, gpu->stream); });
    line(v.number, v.name, ms, flop, "TFLOP/s", 0, gap(C, want));
  }
}

void softmax_of(int rows, int cols) {
  const Matrix x = random(rows, cols), y(x.shape(), gpu), want(x.shape(), gpu);
  const double bytes = 8.0 * rows * cols * 1e-6;  // read once, written once: for GB/s from milliseconds
  cuda_softmax_ladder()[0].run(x, want, gpu->stream);
  const double copy = milliseconds([&] { gpu->copy(x, y); });
  std::printf("softmax of %d rows of %d. A copy: %.3f ms, %.0f GB/s\n", rows, cols, copy, bytes / copy);
  for (const SoftmaxVersion& v : cuda_softmax_ladder()) {
    const double ms = milliseconds([&] { v.run(x, y, gpu->stream); });
    line(v.number, v.name, ms, bytes, "GB/s", 0, gap(y, want));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const int n = argc > 1 ? std::atoi(argv[1]) : 4096;
  if (n < 1 || n > 32768) throw CudaError("cuda_ladder: SIZE must be from 1 to 32768, not " + std::string(argv[1]));
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  gpu = new CudaBackend;
  products_of(n);
  softmax_of(n, 512);
  softmax_of(n, n);
  delete gpu;
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
