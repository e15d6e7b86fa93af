// Rotary positions: pairs of channels turned by an angle that grows with the row (engine/ops/rotary.cpp).
//
// A power, a cosine and a sine in double for every pair of every sequence and head would be slow, and most would be the
// same. So a first kernel fills a table, one turn for each position and pair; the second turns with it.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Turn {
  double cos, sin;  // in double: a float is too coarse at position 100 000
};

// turns: rows x pairs. Thread: one of them.
__global__ void turns_kernel(Rotary how, int rows, int pairs, Turn* turns) {
  const std::ptrdiff_t k = std::ptrdiff_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= std::ptrdiff_t(rows) * pairs) return;
  const int row = int(k / pairs), i = int(k % pairs);
  const double p = (double(how.first) + row) * how.spacing, angle = p * pow(how.base, -2.0 * i / (2 * pairs));
  turns[k] = {cos(angle), sin(angle)};
}

// What stands at row r, column c, after the turn, or after the turn back.
struct Turned {
  DeviceMat x;
  const Turn* turns;
  int rows, width, pairs;  // of one sequence, of one head, that are turned
  bool half, back;

  __device__ float operator()(int r, int c) const {
    const int place = c % width, head = c - place;
    if (place >= 2 * pairs) return x(r, c);
    const int i = half ? place % pairs : place / 2;
    const bool first = half ? place < pairs : place % 2 == 0;
    const int other = head + (half ? (first ? place + pairs : place - pairs) : place ^ 1);
    const Turn t = turns[std::ptrdiff_t(r % rows) * pairs + i];
    // (a, b) becomes (a cos - b sin, b cos + a sin); back, the sines change their sign
    return float(x(r, c) * t.cos + (first == back ? 1 : -1) * (x(r, other) * t.sin));
  }
};
struct AddTurned {
  Turned turned;
  DeviceMat dx;
  __device__ float operator()(int r, int c) const { return dx(r, c) + turned(r, c); }
};

Turned turned(Mat x, const Rotary& how, bool back, Pool& pool, cudaStream_t stream) {
  const int rows = x.rows / how.batch, width = x.cols / how.heads, pairs = how.turned(width) / 2;
  const std::size_t n = std::size_t(rows) * std::size_t(pairs);
  Turn* const turns = static_cast<Turn*>(pool.take(n * sizeof(Turn)));
  if (n) launch({dim3(unsigned((n + 127) / 128)), dim3(128), 0, stream}, turns_kernel, how, rows, pairs, turns);
  return {x, turns, rows, width, pairs, how.pairs == Rotary::Pairs::half, back};
}

}  // namespace

void CudaBackend::rotate(Mat x, const Rotary& how, Mat y) {
  if (y.rows == 0 || y.cols == 0) return;
  const Turned f = turned(x, how, false, pool, stream);
  each(y, f, stream);
  pool.give(const_cast<Turn*>(f.turns));
}

void CudaBackend::rotate_back(Mat dy, const Rotary& how, Mat dx) {
  if (dy.rows == 0 || dy.cols == 0) return;
  const Turned f = turned(dy, how, true, pool, stream);
  each(dx, AddTurned{f, dx}, stream);
  pool.give(const_cast<Turn*>(f.turns));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
