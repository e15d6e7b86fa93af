// The versions of a sum: each right, and which of them depend on the order of the threads.
#include "engine/cuda/sum_ladder.h"

#include "tests/catch.h"
#include "tests/cuda/twin_problem.h"

using namespace glass;

static Real sum_of(CudaBackend& be, const SumVersion& version, Mat x) {
  const Matrix y(Shape{1, 1}, &be);
  version.run(x, y, be.pool, be.stream);
  return to_host(be, y)(0, 0);
}

TEST_CASE("every version of a sum is right, for every length, aligned or not") {
  CudaBackend be;
  Rng rng(12);
  for (int n : {0, 1, 3, 31, 255, 256, 257, 5001}) {
    const Matrix x = random_matrix({1, n + 1}, rng), there = on_device(be, x);
    for (int first : {0, 1}) {
      double want = 0;
      for (int j = first; j < first + n; ++j) want += double(x(0, j));
      for (const SumVersion& version : cuda_sum_ladder()) {
        INFO(version.name << ", " << n << " numbers from " << first);
        CHECK(sum_of(be, version, there.view().block(0, first, 1, n)) == Approx(want).margin(1e-6 * (n + 1)));
      }
    }
  }
}

TEST_CASE("sums by atomics change with the order of the threads; those in two passes do not") {
  CudaBackend be;
  Rng rng(13);
  const Matrix there = on_device(be, random_matrix({1, 5000}, rng));
  bool changes[7] = {};
  for (const SumVersion& version : cuda_sum_ladder()) {
    const Real forward = sum_of(be, version, there);
    for (const char* order : {"reverse", "1", "2", "3"}) {
      const ThreadOrder as(order);
      changes[version.number] |= sum_of(be, version, there) != forward;
    }
  }
  CHECK(!changes[1]);
  CHECK(changes[2]);
  CHECK(changes[3]);
  CHECK(changes[4]);
  CHECK(!changes[5]);
  CHECK(!changes[6]);
}
