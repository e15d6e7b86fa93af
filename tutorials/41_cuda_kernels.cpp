// tutorials/41_cuda_kernels.cpp: what a load costs on a GPU is decided by the neighbours. Kernels run on the CPU, watched.
// Read first: 05_softmax, 40_matmul_kernels.   The code: engine/cuda/kernels/matmul_ladder.cu, engine/cuda/kernels/softmax.cu
#include <cmath>
#include <functional>
#include <set>

#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/cuda/on_cpu/counts.h"
#include "tutorials/page/mistakes.h"
#include "tutorials/page/page.h"
using namespace glass;
using namespace cuda_on_cpu;
constexpr int n = 64;  // every matrix here is 64 x 64
// Lane l of a warp is the thread (x, y) = (l mod 16, l / 16). Where in A and B it reads at k = 0:
static int a_naive(int l) { return l % 16 * n; }      // version 1: row x ...
static int b_naive(int l) { return l / 16; }          //            ... column y
static int a_coalesced(int l) { return l / 16 * n; }  // version 2: row y ...
static int b_coalesced(int l) { return l % 16; }      //            ... column x
static double sectors(int (*place)(int)) {  // of 8 numbers, 32 bytes, that the 32 lanes want
  std::set<int> all;
  for (int l = 0; l < 32; ++l) all.insert(place(l) / 8);
  return double(all.size());
}

static std::string caught(const std::function<void()>& launch) {
  try {
    launch();
    return "nothing was caught\n";
  } catch (const KernelError& e) {
    return e.what() + std::string("\n");
  }
}

static double gap(Mat a, Mat b) {
  double worst = 0;
  for (int e = 0; e < a.rows * a.cols; ++e) worst = std::fmax(worst, std::fabs(double(a.data[e]) - b.data[e]));
  return worst;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "41");
  CudaBackend gpu;
  Rng rng(page.seed());
  Matrix x(Shape{n, n}), product(Shape{n, n}), weights(Shape{n, n}), sums(Shape{1, n});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) x(i, j) = Real(rng.uniform() - 0.5), sums(0, j) += x(i, j);
  cpu_backend().matmul(Product::NN, x, x, product, false);
  cpu_backend().softmax_rows(x, weights);
  const Matrix A(x, &gpu), C(Shape{n, n}, &gpu), y(Shape{1, n}, &gpu);

  page.step("Neighbours", "C = A B,  64 x 64, k = 0", "32 threads, the lanes of a warp, read at once: where in memory, counted in numbers");
  Matrix where(Shape{4, 4});
  const int lanes[] = {0, 1, 15, 16};
  int (*const place[])(int) = {a_naive, b_naive, a_coalesced, b_coalesced};
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) where(r, c) = Real(place[c](lanes[r]));
  page.show_matrix("a lane reads", where, {"lane 0", "lane 1", "lane 15", "lane 16"}, {"1: A", "B", "2: A", "B"});
  const char *load_a = "const float a = A(i, k)", *load_b = "const float b = B(k, j)";
  forget_accesses(), cuda_matmul_ladder()[0].run(A, A, C, gpu.stream);
  page.check("version 1: the lanes want 16 sectors of A", counts(false, load_a).each(), sectors(a_naive));
  forget_accesses(), cuda_matmul_ladder()[1].run(A, A, C, gpu.stream);
  page.check("version 2: 2 sectors of A, one number for 16 lanes", counts(false, load_a).each(), sectors(a_coalesced));
  page.check("and 2 of B, every byte used", counts(false, load_b).each(), sectors(b_coalesced));

  page.step("Products", "sectors of global memory, passes over shared memory", "and the least for the same numbers: the watcher's count of every load and store");
  Matrix table(Shape{6, 4}), rows(Shape{4, 3});
  Labels names, ways;
  double store[6] = {}, worst[2] = {};
  for (int v = 0; v < 6; ++v) {
    forget_accesses(), cuda_matmul_ladder()[v].run(A, A, C, gpu.stream);
    for (bool shared : {false, true})
      table(v, 2 * shared) = Real(counts(shared).cost), table(v, 2 * shared + 1) = Real(counts(shared).least);
    if (v > 2) store[v] = counts(true, v == 3 ? "a[e % BK]" : v == 4 ? "a[k][m] =" : "tile[k][m] = v.x", Which::writes).each();
    names.push_back(cuda_matmul_ladder()[v].name);
    worst[0] = std::fmax(worst[0], gap(HostView(gpu, C), product));
  }
  page.show_matrix("64 x 64", table, names, {"sectors", "least", "passes", "least"});
  page.check("each computes the same product", worst[0], 0, 1e-4);
  const auto tiled = [](double T) { return (2 * double(n) * n * n / T + n * n) / 8; };  // A and B once for each T columns, rows
  page.check("version 1: 17 sectors for each k, 16 to write", table(0, 0), 128 * (17 * n + 16));
  page.check("version 3, tiles of 16: (2 n³ / 16 + n²) / 8", table(2, 0), tiled(16));
  page.check("version 5, tiles of 64: a third of version 3", table(4, 0), tiled(64));
  page.check("version 6, tiles of 32 while matrices are small", table(5, 0), tiled(32));
  page.check("version 4 stores A down a column: 8 lanes in a bank", store[3], 8);
  page.check("version 5, by fours: 2 in a bank", store[4], 2);
  page.check("version 6 pads each row: no conflict", store[5], 1);
  page.check("nor any elsewhere in version 6", table(5, 2), table(5, 3));

  page.step("Softmax", "rows of 64", "requests: how often a warp reads or writes global memory");
  for (int v = 0; v < 4; ++v) {
    forget_accesses(), cuda_softmax_ladder()[v].run(A, C, gpu.stream);
    rows(v, 0) = Real(counts(false).cost), rows(v, 1) = Real(counts(false).least), rows(v, 2) = Real(counts(false).requests);
    ways.push_back(cuda_softmax_ladder()[v].name);
    worst[1] = std::fmax(worst[1], gap(HostView(gpu, C), weights));
  }
  page.show_matrix("64 x 64", rows, ways, {"sectors", "least", "requests"});
  page.check("each computes the same softmax", worst[1], 0, 1e-6);
  page.check("a thread for a row: every number a sector of its own", rows(0, 0), 4 * n * n);
  page.check("a warp for a row reads 3 times, writes once: 4 n² / 8", rows(1, 0), 4 * n * n / 8);
  page.check("the online sum reads twice: 3 n² / 8", rows(2, 0), 3 * n * n / 8);
  page.check("by fours: the same sectors in half the requests", rows(3, 2), rows(2, 2) / 2);

  page.step("A barrier forgotten", "version 3 without its second __syncthreads()");
  const std::string race = caught([&] { multiply_without_barrier(A, A, C, gpu.stream); });
  page.table(race);
  page.check("the watcher names both lines", race.find("wrote") != std::string::npos && race.find("reads") != std::string::npos);
  page.check("and this time the product is wrong", gap(HostView(gpu, C), product) > 0.01);

  page.step("An update lost", "y_j += Σ_i x_ij,  a block for every other row");
  gpu.fill(y, 0);
  const std::string lost = caught([&] { lose_updates(A, y, gpu.stream); });
  page.table(lost);
  page.check("the watcher finds it, though here no update was lost", gap(HostView(gpu, y), sums), 0, 1e-4);
  gpu.fill(y, 0), count_updates(A, y, gpu.stream);
  page.check("atomicAdd: nothing is caught, nothing lost", gap(HostView(gpu, y), sums), 0, 1e-4);
  return page.done();
} catch (const std::exception& e) {
  return fail("41", e);
}
