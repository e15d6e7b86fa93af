#include "layers/text/corpus.h"

#include <cmath>

#include "engine/errors.h"
#include "tests/catch.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

typedef std::vector<int> Ids;

static Ids counted(int n) {
  Ids ids;
  for (int i = 0; i < n; ++i) ids.push_back(i);
  return ids;
}

TEST_CASE("corpus: the first part is for training, the rest is held out") {
  const Corpus corpus(counted(105), 10);
  CHECK(corpus.train.size() == 94);  // 94.5, rounded down
  CHECK(corpus.held_out.size() == 11);
  CHECK(corpus.train.back() == 93);
  CHECK(corpus.held_out.front() == 94);
}

TEST_CASE("corpus: a text that is too short is refused with its numbers") {
  CHECK_NOTHROW(Corpus(counted(20), 1));
  CHECK_NOTHROW(Corpus(counted(104), 10));
  CHECK_THROWS_WITH(Corpus(counted(90), 10), ContainsSubstring("the text has 90 tokens, so 9 held out, but windows of 10 tokens and the next need 11"));
  CHECK_THROWS_WITH(Corpus({}, 10), ContainsSubstring("the text has 0 tokens, so 0 for training"));
  CHECK_THROWS_WITH(Corpus(counted(90), 0), ContainsSubstring("not 0"));
  CHECK_THROWS_AS(Corpus(counted(90), 1, 1.5), InputError);
}

TEST_CASE("windows: the target is the next token") {
  Windows w;
  w.at(counted(10), {0, 5}, 4);
  CHECK(w.inputs == Ids{0, 1, 2, 3, 5, 6, 7, 8});
  CHECK(w.targets == Ids{1, 2, 3, 4, 6, 7, 8, 9});
  CHECK_THROWS_WITH(w.at(counted(10), {6}, 4), ContainsSubstring("4 tokens from place 6 on and the next are not in a text of 10"));
  CHECK_THROWS_AS(w.at(counted(10), {-1}, 4), InputError);
}

TEST_CASE("windows: every place can be drawn, the last one too, by the seed alone") {
  Windows w, again;
  Rng rng(1), same(1);
  std::vector<int> times(7, 0);
  for (int i = 0; i < 700; ++i) {
    w.draw(counted(11), 3, 4, rng);
    again.draw(counted(11), 3, 4, same);
    CHECK(w.inputs == again.inputs);
    REQUIRE(w.targets.size() == 12);
    for (int b = 0; b < 3; ++b) ++times.at(std::size_t(w.inputs[std::size_t(4 * b)]));
  }
  for (const int n : times) CHECK(n > 200);  // 300 on average
  CHECK_THROWS_AS(w.draw(counted(4), 1, 4, rng), InputError);
}

TEST_CASE("n-grams: by hand") {
  // train 0 1 0 1 2, V = 3: n = 2 2 1, pairs 01 twice, 10 once, 12 once
  CHECK(unigram_loss({0, 1, 0, 1, 2}, {0, 0, 2}, 3) == Approx(-(std::log(3 / 8.0) + std::log(2 / 8.0)) / 2));
  CHECK(bigram_loss({0, 1, 0, 1, 2}, {0, 1, 2, 2}, 3) == Approx(-(std::log(3 / 5.0) + std::log(2 / 5.0) + std::log(1 / 3.0)) / 3));
}
