// Memory of the device, copies and fills, and the pool.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

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
  Pool pool;
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

#if !defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("on the CPU, too, the host may not touch memory of the device") {
  CudaBackend be;
  Matrix there(Shape{2, 2}, &be);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // not a report of Catch2
    volatile Real* p = there.view().data;
    _exit(p[0] == 0 ? 1 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}
#endif

TEST_CASE("memory that the host sees, too, can be read where it lies") {
  CudaBackend be(true);
  REQUIRE(be.host_readable());
  Matrix there(Shape{3, 2}, &be);
  be.fill(there, 1.5f);
  CHECK(there(2, 1) == 1.5f);
  there(0, 1) = -4;
  Matrix copy(Shape{3, 2}, &be);
  be.copy(there, copy);
  CHECK(copy(0, 1) == -4);
}
