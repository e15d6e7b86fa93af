// Theme F, the part with a cache of keys and values. Each test is named after its case.
#include "layers/attention/kv_cache.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("F03 steps with a cache give the rows of the whole pass, however they are split") {
  const Matrix q{{-0.84375, -0.5}, {0.3125, 0.65625}, {-0.53125, -0.1875}, {0.625, 0.96875}};
  const Matrix k{{-0.90625, -0.375}, {0, 0.53125}, {0.90625, -0.5625}, {-0.1875, 0.34375}};
  const Matrix v{{-0.96875, -0.75}, {-0.5625, -0.34375}, {-0.15625, 0.0625}, {0.25, 0.46875}};
  const Matrix want{{-0.96875, -0.75}, {-0.7045257278, -0.4857757278}, {-0.653408981, -0.434658981}, {-0.284928355, -0.06617835501}};
  for (const std::vector<int>& split : {std::vector<int>{1, 1, 1, 1}, {2, 2}, {3, 1}, {1, 3}, {4}}) {
    KvCache cache(4, 2, 2);
    Tape tape;
    for (int n : split) {
      CAPTURE(split.size(), n, cache.tokens);
      const int t = cache.tokens;
      const Var Q = tape.input(q.view().block(t, 0, n, 2), "Q"), K = tape.input(k.view().block(t, 0, n, 2), "K");
      const Var Y = multi_head_cached(Q, K, tape.input(v.view().block(t, 0, n, 2), "V"), cache, {});
      CHECK(difference(Y.value(), want.view().block(t, 0, n, 2)) == "");
    }
  }
}
