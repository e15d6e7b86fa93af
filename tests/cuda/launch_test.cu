// A launch beyond the limits says where it is written and what it asked for.
#include "engine/cuda/launch.cuh"
#include "tests/catch.h"

using Catch::Matchers::ContainsSubstring;
using namespace glass;

static __global__ void nothing() {}

TEST_CASE("a launch beyond the limits is an error with its place and its shape") {
  CHECK_THROWS_WITH(launch({dim3(3), dim3(2048)}, nothing),
                    ContainsSubstring("launch_test.cu:11: CUDA: launch of 3 x 1 x 1 blocks of 2048 x 1 x 1 threads") &&
                        ContainsSubstring("invalid configuration"));
  CHECK_THROWS_WITH(launch({dim3(1), dim3(32), 300 * 1024}, nothing),
                    ContainsSubstring("307200 bytes of shared memory"));
  CHECK_NOTHROW(launch({dim3(1), dim3(32), 100 * 1024}, nothing));
}
