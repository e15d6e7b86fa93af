// The patterns: how many pairs, which pairs, and how far they reach.
#include "layers/attention/patterns.h"

#include <cstdlib>

#include "engine/errors.h"
#include "tests/catch.h"

using namespace glass;

static KeyLists by_rule(int n, int m, bool (*rule)(int p, int j)) {  // pair by pair, as the papers write it
  KeyLists lists(n, m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      if (rule(i + m - n, j)) lists.of[std::size_t(i)].push_back(j);
  return lists;
}

static bool window_4(int p, int j) { return std::abs(p - j) <= 2; }
static bool dilated_4_3(int p, int j) { return std::abs(p - j) <= 6 && (p - j) % 3 == 0; }
static bool causal_4(int p, int j) { return 0 <= p - j && p - j < 4; }
static bool strided_near_3(int p, int j) { return p - 3 <= j && j <= p; }
static bool strided_far_3(int p, int j) { return j <= p && (p - j) % 3 == 0; }
static bool fixed_near_3(int p, int j) { return j <= p && j / 3 == p / 3; }
static bool fixed_far_3_2(int p, int j) { return j <= p && j % 3 >= 1; }
static bool global_1_4(int p, int j) { return p == 1 || p == 4 || j == 1 || j == 4; }
static bool blocks_of_3(int p, int j) { return std::abs(p / 3 - j / 3) <= 1; }
static bool causal(int p, int j) { return j <= p; }

TEST_CASE("patterns: each is its rule, for every number of queries and keys") {
  for (const int m : {1, 2, 5, 9, 16}) {
    for (const int n : {1, 3, 5, 9, 16}) {
      CAPTURE(n, m);
      CHECK(window(n, m, 4) == by_rule(n, m, window_4));
      CHECK(dilated_window(n, m, 4, 3) == by_rule(n, m, dilated_4_3));
      CHECK(causal_window(n, m, 4) == by_rule(n, m, causal_4));
      if (n > m) continue;  // the rules divide, and a position before the first key has no place there
      CHECK(strided_near(n, m, 3) == by_rule(n, m, strided_near_3));
      CHECK(strided_far(n, m, 3) == by_rule(n, m, strided_far_3));
      CHECK(fixed_near(n, m, 3) == by_rule(n, m, fixed_near_3));
      CHECK(fixed_far(n, m, 3, 2) == by_rule(n, m, fixed_far_3_2));
      if (m >= 5) CHECK(global_tokens(n, m, {4, 1, 4}) == by_rule(n, m, global_1_4));
      const int blocks = (m + 2) / 3;
      CHECK(in_blocks(window(blocks, blocks, 2), 3, n, m) == by_rule(n, m, blocks_of_3));
    }
  }
}

TEST_CASE("patterns: queries that stand before the first key have no causal key") {
  for (const KeyLists& lists : {causal_window(5, 2, 2), strided_near(5, 2, 2), strided_far(5, 2, 2), fixed_near(5, 2, 2), fixed_far(5, 2, 2, 1)}) {
    for (std::size_t i = 0; i < 3; ++i) CHECK(lists.of[i].empty());
    CHECK_FALSE(lists.of[4].empty());
  }
}

TEST_CASE("patterns: how many pairs 16 tokens have") {
  const int n = 16;
  CHECK(all_keys(n, n).pairs() == 256);
  CHECK(window(n, n, 4).pairs() == 74);
  CHECK(causal_window(n, n, 4).pairs() == 58);
  CHECK(dilated_window(n, n, 4, 3).pairs() == 62);
  CHECK(strided_near(n, n, 4).pairs() == 70);
  CHECK(strided_far(n, n, 4).pairs() == 40);
  CHECK((strided_near(n, n, 4) | strided_far(n, n, 4)).pairs() == 82);
  CHECK(fixed_near(n, n, 4).pairs() == 40);
  CHECK(fixed_far(n, n, 4, 1).pairs() == 28);
  CHECK(fixed_far(n, n, 4, 1).empty() == std::vector<int>{0, 1, 2});
  CHECK((fixed_near(n, n, 4) | fixed_far(n, n, 4, 1)).pairs() == 64);
  CHECK((window(n, n, 4) | global_tokens(n, n, {0})).pairs() == 100);
  CHECK((all_keys(n, n) & Mask::causal(n, n)).pairs() == 136);

  KeyLists blocks = window(n, n, 2) | global_tokens(n, n, {0, 15}), random(n, n);
  for (int i = 1; i < 15; ++i) random.of[std::size_t(i)] = {(5 * i + 3) % 16};
  CHECK(in_blocks(blocks | random, 2, 32, 32).pairs() == 436);
}

TEST_CASE("patterns: two hops lead everywhere, stacked windows L (w - 1) keys back") {
  const int n = 16;
  const KeyLists all = by_rule(n, n, causal), fixed = fixed_near(n, n, 4) | fixed_far(n, n, 4, 1);
  CHECK(two_hops(strided_far(n, n, 4), strided_near(n, n, 4)) == all);
  CHECK(two_hops(fixed, fixed) == all);
  CHECK_FALSE(two_hops(causal_window(n, n, 4), causal_window(n, n, 4)) == all);
  const KeyLists layer = causal_window(n, n, 4);
  const KeyLists three = two_hops(layer, two_hops(layer, layer));
  CHECK(three.of[15].front() == 6);  // 15 - 3 · (4 - 1)
  CHECK(three == causal_window(n, n, 10));
}

TEST_CASE("patterns: a causal window of 2 is the query and the one key before it (F13)") {
  CHECK(causal_window(4, 4, 2).picture() == std::vector<std::string>{"#...", "##..", ".##.", "..##"});
  CHECK(causal_window(4, 4, 1).picture() == std::vector<std::string>{"#...", ".#..", "..#.", "...#"});
  CHECK_THROWS_AS(causal_window(4, 4, 0), InputError);
  CHECK_THROWS_AS(causal_window(4, 4, -1), InputError);
}

TEST_CASE("patterns: random keys are new ones, as many as asked for, and the same for the same seed") {
  const KeyLists base = window(20, 20, 2), more = with_random(base, 3, 7);
  CHECK(more.pairs() == base.pairs() + 60);
  CHECK((more & base.mask()) == base);
  for (const auto& mine : more.of)
    for (std::size_t k = 1; k < mine.size(); ++k) CHECK(mine[k - 1] < mine[k]);
  CHECK(with_random(base, 3, 7) == more);
  CHECK_FALSE(with_random(base, 3, 8) == more);
  CHECK(with_random(base, 100, 7) == all_keys(20, 20));
  CHECK(with_random(base, 0, 7) == base);
  std::vector<int> drawn(6, 0);  // each of the six others as often
  for (std::uint64_t seed = 0; seed < 600; ++seed) ++drawn[std::size_t(with_random(KeyLists(1, 6), 1, seed).of[0][0])];
  for (const int times : drawn) CHECK(std::abs(times - 100) < 40);
}

TEST_CASE("patterns: Big Bird's blocks are a window, first and last for all, and random ones") {
  const KeyLists blocks = bigbird(10, 2, 3);
  CHECK((blocks & window(10, 10, 2).mask()) == window(10, 10, 2));
  CHECK((blocks & global_tokens(10, 10, {0, 9}).mask()) == global_tokens(10, 10, {0, 9}));
  CHECK(blocks.of[5].size() == 3 + 2 + 2);
  CHECK(in_blocks(blocks, 4, 40, 40).pairs() == 16 * blocks.pairs());
  CHECK(bigbird(1, 2, 3) == all_keys(1, 1));
}

TEST_CASE("patterns: lists, masks and flat lists hold the same pairs") {
  const KeyLists lists = strided_far(3, 5, 2);
  Mask mask(3, 5, false);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) mask.set(i, j, lists.has(i, j));
  CHECK(KeyLists(mask) == lists);
  CHECK(KeyLists(lists.mask()) == lists);
  const FlatLists flat(lists);
  CHECK(flat.starts == std::vector<int>{0, 2, 4, 7});
  CHECK(flat.keys == std::vector<int>{0, 2, 1, 3, 0, 2, 4});
}

TEST_CASE("patterns: widths and sizes that make no sense are errors") {
  CHECK_THROWS_AS(window(4, 4, 3), InputError);  // half of it on each side?
  CHECK_THROWS_AS(window(4, 4, -2), InputError);
  CHECK_THROWS_AS(dilated_window(4, 4, 2, 0), InputError);
  CHECK_THROWS_AS(strided_near(4, 4, 0), InputError);
  CHECK_THROWS_AS(strided_far(4, 4, 0), InputError);
  CHECK_THROWS_AS(fixed_near(4, 4, 0), InputError);
  CHECK_THROWS_AS(fixed_far(4, 4, 0, 1), InputError);
  CHECK_THROWS_AS(fixed_far(4, 4, 2, 0), InputError);
  CHECK_THROWS_AS(global_tokens(4, 4, {4}), InputError);
  CHECK_THROWS_AS(global_tokens(4, 4, {-1}), InputError);
  CHECK_THROWS_AS(with_random(window(4, 4, 2), -1, 1), InputError);
  CHECK_THROWS_AS(in_blocks(window(2, 2, 2), 0, 4, 4), InputError);
  CHECK_THROWS_AS(in_blocks(window(2, 2, 2), 2, 5, 5), ShapeError);
  CHECK_THROWS_AS(window(4, 4, 2) | window(4, 5, 2), ShapeError);
  CHECK_THROWS_AS(window(4, 4, 2) & Mask(3, 4), ShapeError);
}
