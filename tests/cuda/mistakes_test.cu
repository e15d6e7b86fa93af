// Kernels with the classic mistakes: what runs them here must name each, with file, line and threads. (Races, lost
// updates and unwritten shared memory need the watcher: watcher_test.cu.) Overruns are found where the sanitizers are
// built in.
#include <fstream>

#include "engine/cuda/cuda.h"
#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"
#include "tests/catch.h"
#include "tests/cuda/twin_problem.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

namespace {

__global__ void other_barriers(float* y) {
  if (threadIdx.x < 16) {
    __syncthreads();  // some here
  } else {
    __syncthreads();  // some there
  }
  y[threadIdx.x] = 1;
}

__global__ void early_return(float* y, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  __syncthreads();  // for those that are left
  y[i] = 1;
}

__global__ void some_never_come(float* y) {
  float v = float(threadIdx.x);
  if (threadIdx.x < 8) {
    v += __shfl_down_sync(kAllLanes, v, 4);  // the mask names lanes that are elsewhere
  } else {
    __syncthreads();  // elsewhere: here
  }
  y[threadIdx.x] = v;
}

__global__ void from_outside_the_mask(float* y) {
  float v = float(threadIdx.x);
  if (threadIdx.x < 16) v = __shfl_sync(0x0000ffffu, v, 20);
  y[threadIdx.x] = v;
}

__global__ void outside_its_own_mask(float* y) { y[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, float(threadIdx.x), 1); }

__global__ void two_halves(float* y) {  // right: each mask names exactly the lanes that are there
  float v = float(threadIdx.x);
  if (threadIdx.x < 16) {
    v = __shfl_xor_sync(0x0000ffffu, v, 1);
  } else {
    v = __shfl_xor_sync(0xffff0000u, v, 2);
  }
  y[threadIdx.x] = v;
}

// C = A B, 16 x 16 in one tile of shared memory, with or without the barrier that must follow.
template <bool barrier>
__global__ void tile_product(DeviceMat A, DeviceMat B, DeviceMat C) {
  __shared__ float a[16][16], b[16][16];
  const int i = int(threadIdx.y), j = int(threadIdx.x);
  a[i][j] = A(i, j);
  b[i][j] = B(i, j);
  if (barrier) __syncthreads();
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += a[i][k] * b[k][j];
  C(i, j) = sum;
}

__global__ void over_the_end(float* y, int by) {
  __shared__ float s[32];
  s[int(threadIdx.x) + by] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}

__global__ void over_the_dynamic_end(float* y, int by) {
  float* const s = dynamic_shared<float>();
  s[int(threadIdx.x) + by] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}

__global__ void out_of_the_row(float* y, int by) {  // into the next row of the same array: no tool of a GPU sees it
  __shared__ float s[4][8];
  s[0][int(threadIdx.x) + by] = 1;
  __syncthreads();
  y[threadIdx.x] = s[0][threadIdx.x];
}

struct Floats {  // of the device
  CudaBackend be;
  float* data;
  explicit Floats(std::size_t n) : data(static_cast<float*>(be.alloc(n * sizeof(float)))) {}
  ~Floats() { be.free(data); }
};

// "mistakes_test.cu:17", the first line with this text
std::string at(const std::string& text) {
  std::ifstream file(GLASS_SOURCE_DIR "/tests/cuda/mistakes_test.cu");
  std::string line;
  for (int n = 1; std::getline(file, line); ++n)
    if (line.find(text) != std::string::npos) return "mistakes_test.cu:" + std::to_string(n);
  return "no such line";
}

}  // namespace

TEST_CASE("threads that wait at different barriers are named") {
  Floats y(32);
  CHECK_THROWS_WITH(
      launch({dim3(1), dim3(32)}, other_barriers, y.data),
      ContainsSubstring("block (0,0,0): threads wait at different barriers") &&
          ContainsSubstring("threads (0,0,0)..(15,0,0) wait at the block barrier, " + at("// some here")) &&
          ContainsSubstring("threads (16,0,0)..(31,0,0) wait at the block barrier, " + at("// some there")));
}

TEST_CASE("a return before a barrier is named") {
  Floats y(64);
  CHECK_THROWS_WITH(
      launch({dim3(2), dim3(32)}, early_return, y.data, 50),
      ContainsSubstring("block (1,0,0): nobody can go on") &&
          ContainsSubstring("threads (0,0,0)..(17,0,0) wait at the block barrier, " + at("// for those")) &&
          ContainsSubstring("threads (18,0,0)..(31,0,0) have returned"));
}

TEST_CASE("a shuffle whose mask names lanes that never come is named") {
  Floats y(32);
  CHECK_THROWS_WITH(
      launch({dim3(1), dim3(32)}, some_never_come, y.data),
      ContainsSubstring("nobody can go on") &&
          ContainsSubstring("threads (0,0,0)..(7,0,0) wait at the warp operation, " + at("// the mask names") +
                            " for lanes 0xffffffff") &&
          ContainsSubstring("threads (8,0,0)..(31,0,0) wait at the block barrier, " + at("// elsewhere")));
}

TEST_CASE("a shuffle from a lane that takes no part, or by a lane outside its mask, is named") {
  Floats y(32);
  CHECK_THROWS_WITH(launch({dim3(1), dim3(32)}, from_outside_the_mask, y.data),
                    ContainsSubstring("reads from lane 20, which does not take part in the shuffle, at " +
                                      at("(0x0000ffffu, v, 20)")));
  CHECK_THROWS_WITH(launch({dim3(1), dim3(32)}, outside_its_own_mask, y.data),
                    ContainsSubstring("thread (16,0,0) is not in its own mask at " + at("outside_its_own_mask")));
}

TEST_CASE("two halves of a warp may shuffle apart, and a mistake leaves nothing behind") {
  CudaBackend be;
  const Matrix y(Shape{1, 32}, &be);
  CHECK_THROWS(launch({dim3(1), dim3(32)}, other_barriers, y.view().data));
  launch({dim3(1), dim3(32)}, two_halves, y.view().data);
  const Matrix v = to_host(be, y);
  CHECK(v(0, 0) == 1);
  CHECK(v(0, 15) == 14);
  CHECK(v(0, 16) == 18);
  CHECK(v(0, 31) == 29);
}

TEST_CASE("a missing barrier changes the result, in every order of the threads") {
  CudaBackend be;
  Rng rng(21);
  const Matrix A = random_matrix({16, 16}, rng), B = random_matrix({16, 16}, rng), C(Shape{16, 16}, &be);
  const Matrix A_there = on_device(be, A), B_there = on_device(be, B);
  Matrix want(Shape{16, 16});
  cpu_backend().matmul(Product::NN, A, B, want, false);
  for (const char* order : {"forward", "reverse", "1", "2"}) {
    const ThreadOrder as(order);
    INFO(order);
    launch({dim3(1), dim3(16, 16)}, tile_product<true>, A_there, B_there, C);
    CHECK(difference(to_host(be, C), want, kRounding) == "");
    // the tile keeps what an earlier launch left in it: something else
    launch({dim3(1), dim3(16, 16)}, tile_product<false>, B_there, A_there, C);
    launch({dim3(1), dim3(16, 16)}, tile_product<false>, A_there, B_there, C);
    CHECK(difference(to_host(be, C), want, kRounding) != "");
  }
}

TEST_CASE("a launch beyond the limits says so, with the line of the launch") {
  Floats y(32);
  CHECK_THROWS_WITH(launch({dim3(1), dim3(2048)}, two_halves, y.data),
                    ContainsSubstring("mistakes_test.cu:") && ContainsSubstring("invalid configuration"));
  CHECK_THROWS_WITH(launch({dim3(0), dim3(32)}, two_halves, y.data), ContainsSubstring("invalid configuration"));
  CHECK_THROWS_WITH(launch({dim3(1, 65536), dim3(32)}, two_halves, y.data), ContainsSubstring("invalid configuration"));
  CHECK_THROWS_WITH(launch({dim3(1), dim3(32), 300 * 1024}, two_halves, y.data), ContainsSubstring("invalid argument"));
}

// Run alone by tests/cuda/overrun.sh in a build with sanitizers, where each must end the program.
TEST_CASE("an overrun of shared memory", "[.overrun]") {
  Floats y(33);
  launch({dim3(1), dim3(32)}, over_the_end, y.data, 1);
}
TEST_CASE("an overrun of dynamic shared memory", "[.overrun]") {
  Floats y(33);
  launch({dim3(1), dim3(32), 32 * sizeof(float)}, over_the_dynamic_end, y.data, 1);
}
TEST_CASE("an overrun of a row of shared memory", "[.overrun]") {
  Floats y(33);
  launch({dim3(1), dim3(8)}, out_of_the_row, y.data, 1);
}
