#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/pack.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/share.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// C = op(A) op(B). An operand is a pointer and two strides, so NN, NT and TN are one code path. Version 6 of lesson 40:
//
//   C is made of tiles that stay in registers while their sums run (tile.h).
//   A block of B, depth x width, is copied into the order in which the tiles read it, and stays in the second cache. The threads
//   copy it together, then share the rows of C.
//   A is read where it lies, number by number. Only Aᵀ is copied too, some rows at a time.
//
// Each entry of C is one sum in the order of k, block after block, and a block's depth follows from the shape alone: the same bits for
// any number of threads.
// Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication".

static constexpr int kBytes = int(sizeof(Real));
static constexpr int kBlock = (1536 / kBytes) * 768;  // numbers of a block of B: 1.2 MB
static constexpr int kSmall = 1 << 18;            // a B of so few numbers stays where it is, if its rows are contiguous and not far apart
static constexpr int kOwn = 1 << 14;              // and if not, each thread copies it for itself
static constexpr int kFew = 96;                   // rows of C that do not pay for a copy of B

namespace {
enum class Copy { none, own, shared };  // of B

struct Problem {
  int m, n, k;
  Strided A, B;
  Real* c;
  std::ptrdiff_t ldc;
  int depth, width;  // of a block of B, at most
  bool add, copy_A;
  const Real* row;   // nullptr, or what the sums start from
  Copy copy_B;
  Real* packed;  // for a shared copy
  int down, across;  // how C is cut into pieces of work
  Heaps* heaps;      // two, in turn: one is filled again while the other is worked on; nullptr: one thread, one piece
};

struct Columns {  // a block of B: depth rows, in strips of kCols columns
  const Real* b;
  std::ptrdiff_t strip, ld;
  int j0, width, k0, depth;
};
}  // namespace

static int count_of(int n, int size) { return (n + size - 1) / size; }  // how many of that size n makes, the last one smaller

// Rows i to i_end against the columns j to j_end of the block. A: their rows, from column k0 on.
static void tiles(const Problem& p, const Columns& b, int i, int i_end, int j_begin, int j_end, Strided A) {
  for (; i < i_end; i += kRows, A = A.at(kRows, 0)) {
    const int rows = least(kRows, i_end - i);
    for (int j = j_begin; j < j_end; j += kCols) {
      const int cols = least(kCols, j_end - j);
      tile_for(rows, cols)(b.depth, A, b.b + j / kCols * b.strip, b.ld, p.c + i * p.ldc + b.j0 + j, p.ldc, cols,
                           {p.row && b.k0 == 0 ? p.row + b.j0 + j : nullptr, p.add || b.k0 > 0});
    }
  }
}

// One piece of C against a block of B.
static void piece_of(const Problem& p, const Columns& b, int piece) {
  const int unit = p.copy_A ? kStrips * kRows : kRows, units = count_of(p.m, unit), strips = count_of(b.width, kCols);
  const int row = piece / p.across, col = piece % p.across;
  const int i0 = part_start(units, row, p.down) * unit, i1 = least(p.m, part_start(units, row + 1, p.down) * unit);
  const int j0 = part_start(strips, col, p.across) * kCols, j1 = least(b.width, part_start(strips, col + 1, p.across) * kCols);
  if (!p.copy_A) return tiles(p, b, i0, i1, j0, j1, p.A.at(i0, b.k0));
  Real* copy = thread_scratch(Scratch::rows, std::size_t(unit) * p.depth);
  for (int i = i0; i < i1; i += unit) {
    const int rows = least(unit, i1 - i);
    pack_left(p.A.at(i, b.k0), rows, b.depth, copy);
    for (int q = 0; q < rows; q += kRows) tiles(p, b, i + q, i + least(q + kRows, rows), j0, j1, {copy + std::ptrdiff_t(q) * b.depth, 1, kRows});
  }
}

// Run by every thread of a team, or by one alone.
static void product_of(const Problem& p) {
  const int passes = count_of(p.k, p.depth), all_strips = count_of(p.n, kCols), blocks = count_of(p.n, p.width);
  int turn = 0;
  Real* packed = p.copy_B == Copy::own ? thread_scratch(Scratch::columns, 2 * kOwn) : p.packed;
  for (int block = 0; block < blocks; ++block) {
    const int j0 = part_start(all_strips, block, blocks) * kCols, j1 = least(p.n, part_start(all_strips, block + 1, blocks) * kCols);
    for (int pass = 0; pass < passes; ++pass) {
      const int k0 = part_start(p.k, pass, passes), depth = part_start(p.k, pass + 1, passes) - k0;
      const int width = j1 - j0, strips = count_of(width, kCols);
      Columns b{packed, std::ptrdiff_t(depth) * kCols, kCols, j0, width, k0, depth};
      if (p.copy_B == Copy::none) {
        b = {p.B.at(k0, j0).p, kCols, p.B.row, j0, width, k0, depth};
      } else if (p.copy_B == Copy::own || !p.heaps) {
        for (int s = 0; s < strips; ++s) pack_columns(p.B.at(k0, j0 + s * kCols), depth, least(kCols, width - s * kCols), packed + s * b.strip);
      } else {
#pragma omp for schedule(static)
        for (int s = 0; s < strips; ++s) pack_columns(p.B.at(k0, j0 + s * kCols), depth, least(kCols, width - s * kCols), packed + s * b.strip);
      }
      if (!p.heaps) {
        piece_of(p, b, 0);
        continue;
      }
      Heaps& heaps = p.heaps[turn];
      heaps.work([&](int piece) { piece_of(p, b, piece); });
#pragma omp barrier
#pragma omp master
      heaps.fill(heaps.pieces, heaps.heaps);
      turn = 1 - turn;
    }
  }
}

static void product_of(Product product, Mat a, Mat b, const Real* row, Mat c, bool accumulate) {
  const int m = c.rows, n = c.cols, k = product == Product::TN ? a.rows : a.cols;
  if (m == 0 || n == 0) return;
  Problem p{m, n, k, {a.data, a.ld, 1}, {b.data, b.ld, 1}, c.data, c.ld, 2048 / kBytes, 512, accumulate, false, row, Copy::shared, nullptr, 1, 1, nullptr};
  if (product == Product::TN) p.A = {a.data, 1, a.ld};
  if (product == Product::NT) p.B = {b.data, 1, b.ld};
  const double size = double(n) * k;
  if (p.B.col == 1 && n % L == 0 && ((size <= kSmall && b.ld <= 768) || m <= kFew)) p.copy_B = Copy::none;
  else if (size <= kOwn) p.copy_B = Copy::own;
  else p.packed = thread_scratch(Scratch::columns, kBlock);

  const int t = threads_for(0.05 * m * size);
  constexpr int group = kStrips * kRows;
  if (product == Product::TN && n > 2 * kCols) {  // enough columns for a copy of A to serve
    p.copy_A = t == 1 || m >= 2 * group * t;      // else there is too little to share
    p.depth = 1536 / kBytes;                      // copied or not: a sum ends and is added to C where a block ends, so t may not move that
    p.width = 768;
  }
  if (t == 1) return product_of(p);
  const int unit = p.copy_A ? group : kRows, units = count_of(m, unit);
  p.down = least(8 * t, units);
  if (p.down < 4 * t) p.across = least(count_of(least(n, p.width), kCols), count_of(4 * t, p.down));
  Heaps heaps[2];
  for (Heaps& h : heaps) h.fill(p.down * p.across, t);
  p.heaps = heaps;
#pragma omp parallel num_threads(t)
  product_of(p);
}

void FastCpu::matmul(Product product, Mat a, Mat b, Mat c, bool accumulate) {
  const bool empty = (product == Product::TN ? a.rows : a.cols) == 0;
  if (!empty) product_of(product, a, b, nullptr, c, accumulate);
  else if (!accumulate) fill(c, 0);
}

void FastCpu::matmul_add_row(Mat a, Mat b, Mat r, Mat c) {
  if (a.cols == 0) CpuBackend::matmul_add_row(a, b, r, c);
  else product_of(Product::NN, a, b, r.data, c, false);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
