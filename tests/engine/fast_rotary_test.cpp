// Fast turns of positions against the plain ones, over heads, sequences, pairings, views and threads.
#include "engine/cpu/cpu.h"
#include "engine/cpu/fast.h"
#include "engine/cpu/threads.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("fast rotary is the plain one, forward and backward, with the same bits for any number of threads") {
  Rng rng(1);
  CpuBackend plain;
  const Tolerance close = kDouble ? Tolerance{1e-10, 1e-10} : Tolerance{1e-5, 1e-5};
  for (int bytes : {16, 32, 64}) {
    Backend* be = fast_cpu(bytes);
    if (!be) continue;
    for (Rotary::Pairs pairs : {Rotary::Pairs::interleaved, Rotary::Pairs::half}) {
      for (int n : {1, 2, 31, 33, 200}) {
        for (int width : {2, 6, 7, 64}) {
          for (int heads : {1, 3}) {
            CAPTURE(bytes, int(pairs), n, width, heads);
            const Rotary how{.pairs = pairs, .first = n == 33 ? 100000 : 3, .base = 500, .dims = width == 7 ? 4 : -1, .spacing = 0.7, .batch = 2, .heads = heads};
            const Matrix x = random_matrix({2 * n, width * heads + 3}, rng), start = random_matrix({2 * n, width * heads + 1}, rng);
            const Mat X = x.view().block(0, 2, 2 * n, width * heads);
            const auto inner = [&](const Matrix& m) { return m.view().block(0, 0, 2 * n, width * heads); };
            Matrix y(start), want(start), dx(start), want_dx(start);
            plain.rotate(X, how, inner(want));
            plain.rotate_back(X, how, inner(want_dx));
            for (int threads : {1, 2, 3}) {
              set_threads(threads);
              Matrix again(start), again_dx(start);
              be->rotate(X, how, inner(again));
              be->rotate_back(X, how, inner(again_dx));
              if (threads > 1) CHECK(bit_difference(again, y) == "");
              if (threads > 1) CHECK(bit_difference(again_dx, dx) == "");
              y = again, dx = again_dx;
            }
            set_threads(0);
            CHECK(difference(y, want, close) == "");
            CHECK(difference(dx, want_dx, close) == "");
          }
        }
      }
    }
  }
}
