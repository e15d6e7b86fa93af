// Flash attention on the CPU, for single-stepping: docs/cuda.md walks through it, tests/debugger/cuda_session.gdb is the
// walk. 70 queries and 70 keys of width 4, causal: two blocks of 64 threads, tiles of 32 keys.
#include <cmath>
#include <cstdio>

#include "engine/cuda/cuda.h"
#include "engine/cuda/flash_ladder.h"

using namespace glass;

static Matrix waves(CudaBackend& be, double a, double b) {
  Matrix x(Shape{70, 4}), there(Shape{70, 4}, &be);
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 4; ++j) x(i, j) = Real(std::sin(a * i + b * j));
  be.from_host(x, there);
  return there;
}

int main() {
  CudaBackend be;
  const Matrix Q = waves(be, 0.3, 1), K = waves(be, 0.7, 2), V = waves(be, 0.1, 3);
  const Matrix Y(Shape{70, 4}, &be), L(Shape{70, 1}, &be), counts(Shape{1, 2}, &be);
  const Tiling tiling{.causal = true};
  flash_forward(2, Q, K, V, Real(0.5), tiling, Y, L, counts, be.stream);
  const HostView y(be, Y);
  std::printf("Y of query 5: %.4f %.4f %.4f %.4f\n", double(y(5, 0)), double(y(5, 1)), double(y(5, 2)), double(y(5, 3)));
}
