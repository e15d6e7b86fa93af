#include "layers/attention/streaming.h"

#include "layers/attention/plain.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("streaming: the first keys and the latest, in order") {
  CHECK(streaming_keys(9, 2, 3) == std::vector<int>{0, 1, 7, 8, 9});
  CHECK(streaming_keys(3, 2, 3) == std::vector<int>{0, 1, 2, 3});  // the two parts touch
  CHECK(streaming_keys(2, 2, 3) == std::vector<int>{0, 1, 2});     // and overlap
  CHECK(streaming_keys(5, 0, 1) == std::vector<int>{5});
  CHECK(streaming_keys(0, 4, 2) == std::vector<int>{0});
  for (int t = 0; t < 50; ++t) CHECK(int(streaming_keys(t, 4, 8).size()) == std::min(t + 1, 12));  // so places stay below 12
  CHECK_THROWS_AS(streaming_keys(-1, 2, 3), InputError);
  CHECK_THROWS_AS(streaming_keys(3, -1, 3), InputError);
  CHECK_THROWS_AS(streaming_keys(3, 2, 0), InputError);
}

TEST_CASE("streaming: the mask is that of all queries, the last query beside the last key") {
  const Mask mask = streaming_mask(4, 7, 1, 2);
  const bool want[4][7] = {{1, 0, 1, 1, 0, 0, 0}, {1, 0, 0, 1, 1, 0, 0}, {1, 0, 0, 0, 1, 1, 0}, {1, 0, 0, 0, 0, 1, 1}};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 7; ++j) CHECK(mask(i, j) == want[i][j]);
  CHECK(streaming_mask(5, 5, 2, 9).is_causal());  // a window that is long enough hides nothing of the past
  const Mask more_queries = streaming_mask(3, 1, 1, 1);
  CHECK_FALSE(more_queries(1, 0));
  CHECK(more_queries(2, 0));
}

TEST_CASE("streaming: attention over the mask is attention over the keys that are left in the cache") {
  Rng rng(4);
  const Matrix q = random_matrix({9, 3}, rng), k = random_matrix({9, 3}, rng), v = random_matrix({9, 2}, rng);
  const Mask mask = streaming_mask(9, 9, 2, 3);
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  const Var Y = plain_attention(Q, K, V, {.allowed = &mask});
  for (int t = 0; t < 9; ++t) {
    const std::vector<int> keys = streaming_keys(t, 2, 3);
    const Var cached_K = gather_rows(K, keys.data(), int(keys.size())), cached_V = gather_rows(V, keys.data(), int(keys.size()));
    CHECK(difference(Y.value().block(t, 0, 1, 2), plain_attention(tape.rows(Q, t, 1), cached_K, cached_V).value(), kRounding) == "");
  }
}
