// tutorials/40_matmul_kernels.cpp: from three loops to the machine's peak, one idea at a time.
// Read first: 01_matrix, 23_complexity.   The code: engine/cpu/fast/ladder.cpp, engine/cpu/fast/matmul.cpp
#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/cpu/fast.h"
#include "engine/cpu/ladder.h"
#include "engine/cpu/threads.h"
#include "tutorials/page/page.h"
using namespace glass;

// When is each entry of B read first? The order of the loops over k and j, for the first row of C.
static Matrix order_of_columns(int K, int N) {  // version 1: j outside, k inside
  Matrix when(Shape{K, N});
  int step = 0;
  for (int j = 0; j < N; ++j)
    for (int k = 0; k < K; ++k) when(k, j) = ++step;
  return when;
}

static Matrix order_of_blocks(int K, int N, int deep, int wide) {  // deep = K and wide = N: version 2
  Matrix when(Shape{K, N});
  int step = 0;
  for (int k0 = 0; k0 < K; k0 += deep)
    for (int j0 = 0; j0 < N; j0 += wide)
      for (int k = k0; k < k0 + deep; ++k)
        for (int j = j0; j < j0 + wide; ++j) when(k, j) = ++step;
  return when;
}

static double stride(const Matrix& when) {  // from the first to the second number, in memory
  double at[2] = {};
  for (int k = 0; k < when.rows(); ++k)
    for (int j = 0; j < when.cols(); ++j)
      if (when(k, j) <= 2) at[int(when(k, j)) - 1] = k * when.cols() + j;
  return at[1] - at[0];
}

static Matrix random(Shape s, Rng& rng) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(rng.normal());
  return m;
}

static double now() { return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The best of five, in operations a nanosecond: GFLOP/s. Without a rung: multiply-adds alone, the peak of one thread.
static double speed(const Ladder& ladder, const Rung* rung, const Matrix& A, const Matrix& B, Matrix& C) {
  double best = 0, sum = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = now();
    if (rung) rung->multiply(A, B, C);
    const double operations = rung ? 2.0 * A.rows() * A.cols() * B.cols() : ladder.peak(1000000, &sum);
    best = std::max(best, operations / (now() - start));
  }
  return best;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "40");
  const Ladder& ladder = matmul_ladder();

  page.step("Order", "C = A B,  B is 4 x 4", "the step in which each number of B is read, for the first row of C; memory holds B row by row");
  const Matrix ijk = order_of_columns(4, 4), ikj = order_of_blocks(4, 4, 4, 4);
  page.show_matrix("1  loops i j k", ijk);
  page.show_matrix("2  loops i k j", ikj);
  page.show_matrix("3  blocks of 2 x 2", order_of_blocks(4, 4, 2, 2));
  page.check("version 1 jumps a whole row with each step", stride(ijk), 4);
  page.check("version 2 goes to the neighbour", stride(ikj), 1);

  page.step("Loads", "loads for each multiply-add", "of numbers or of vectors: what the innermost loop reads besides the sums that it keeps");
  const auto tile = [](double rows, double vectors) { return (rows + vectors) / (rows * vectors); };
  page.check("version 1 reads a and b: 2 loads", tile(1, 1), 2);
  page.check("a tile of 4 x 2 vectors: 6 loads for 8, so 0.75", tile(4, 2), 0.75);
  page.check("a tile of 6 x 4 vectors: 10 loads for 24, under a half", tile(6, 4) < 0.5);
  page.check("a larger tile needs fewer: a square of s x s takes 2 / s", tile(8, 8), 2.0 / 8);

  page.step("Bytes", "n = 512, numbers of 8 bytes", "what memory must send, against 2 n³ operations; bytes for each operation");
  const double n = 512, operations = 2 * n * n * n;
  const double again = 8 * n * n * n / operations, once = 8 * 3 * n * n / operations;
  page.check("B sent once for every row of C: 4 bytes an operation", again, 4);
  page.check("every matrix once: 12 / n bytes, 0.0234", once, 12 / n);
  page.check("so a cache that is used well saves a factor of n / 3", again / once, n / 3);
  page.say("   The roofline: a machine of P operations and M bytes a second does at most\n"
           "   min(P, M / bytes per operation). 100 GFLOP/s and 20 GB/s:");
  const auto roof = [](double bytes) { return std::min(100.0, 20 / bytes); };
  page.check("B again and again: 5 GFLOP/s, a twentieth", roof(again), 5);
  page.check("every matrix once: the roof is arithmetic", roof(once), 100);

  page.step("The same product", "versions 2 to 6 against version 1", "odd sizes, so that every edge is met");
  Rng rng(page.seed());
  const int sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {17, 33, 9}, {64, 129, 65}, {130, 70, 131}};
  for (int r = 1; r < ladder.count; ++r) {
    double worst = 0;
    for (const auto& s : sizes) {
      const Matrix A = random({s[0], s[1]}, rng), B = random({s[1], s[2]}, rng);
      Matrix C(Shape{s[0], s[2]}), D = C;
      ladder.rungs[0].multiply(A, B, C);
      ladder.rungs[r].multiply(A, B, D);
      for (int i = 0; i < s[0]; ++i)
        for (int j = 0; j < s[2]; ++j) worst = std::max(worst, double(std::fabs(C(i, j) - D(i, j))));
    }
    page.check(std::string(ladder.rungs[r].name) + " is version 1, but for rounding", worst, 0, 1e-12);
  }

  page.step("Time", "-v", "measured, so it differs from run to run and from machine to machine; run with -v to see it");
  if (page.options.verbose) {
    Matrix A = random({512, 512}, rng), B = random({512, 512}, rng), C(Shape{512, 512}), table(Shape{8, 1});
    for (int r = 0; r < 5; ++r) table(r, 0) = Real(speed(ladder, ladder.rungs + r, A, B, C));
    set_threads(1), table(5, 0) = Real(speed(ladder, ladder.rungs + 5, A, B, C));
    set_threads(0), table(6, 0) = Real(speed(ladder, ladder.rungs + 5, A, B, C));
    table(7, 0) = Real(speed(ladder, nullptr, A, B, C));
    page.show_matrix("10^9 operations a second, n = 512", table, {"1", "2", "3", "4", "5", "6 alone", "6 threads", "peak of one"});
  }
  return page.done();
} catch (const std::exception& e) {
  return fail("40", e);
}
