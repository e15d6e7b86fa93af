// Memory of the device, copies and fills, and the pool.
#include "engine/cuda/cuda.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("what goes to the device comes back, through views of any ld") {
  CudaBackend be;
  Matrix host{{1, -2, 3, 4}, {5, 6, -7, 8}, {9, 10, 11, -12}};
  Matrix there(Shape{5, 7}, &be);
  be.from_host(host.view().block(0, 1, 3, 2), there.view().block(1, 3, 3, 2));
  Matrix back(Shape{5, 7});
  be.to_host(there, back);
  CHECK(back(1, 3) == -2);
  CHECK(back(3, 4) == 11);
  CHECK(back(0, 0) == 0);
  CHECK(back(4, 6) == 0);
  be.fill(there.view().block(2, 0, 2, 3), 0.5f);
  be.to_host(there, back);
  CHECK(back(1, 3) == -2);
  CHECK(back(2, 2) == 0.5f);
  CHECK(back(2, 3) == 6);
  CHECK(back(3, 0) == 0.5f);
}

TEST_CASE("the pool hands memory of one size out again") {
  Stream stream;
  Pool pool(stream);
  void* a = pool.take(1000);
  void* b = pool.take(1024);
  CHECK(a != b);
  CHECK(pool.held() == 2048);
  pool.give(a);
  CHECK(pool.take(1024) == a);
  CHECK(pool.held() == 2048);
  pool.give(b);
  pool.release();
  CHECK(pool.held() == 1024);
}
