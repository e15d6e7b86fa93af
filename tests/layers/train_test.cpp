#include "layers/models/train.h"

#include <cmath>

#include "layers/models/sample.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

typedef std::vector<int> Ids;

// 0 1 2 3 4 0 1 2 3 4 ...
static Ids in_circles(int n) {
  Ids ids;
  for (int i = 0; i < n; ++i) ids.push_back(i % 5);
  return ids;
}

static GptSettings small() { return {.layers = 1, .heads = 2, .C = 8, .T = 8, .vocabulary = 5}; }

TEST_CASE("train: a text that can be guessed is guessed") {
  ParamStore store;
  Rng rng(1);
  Gpt gpt(store, small(), rng);
  const Ids text = in_circles(200);
  Trainer trainer(gpt, text, {.steps = 60, .batch = 4, .rate = 0.03, .floor = 0.003, .warmup = 5}, 2);
  const double before = loss_on(gpt, in_circles(50));
  CHECK(before == Approx(std::log(5.0)).margin(0.05));
  while (trainer.steps() < trainer.settings.steps) trainer.step();
  CHECK(trainer.tokens() == 60 * 4 * 8);
  CHECK(loss_on(gpt, in_circles(50)) < 0.1);
  CHECK(sample(gpt, {2}, 6, {.temperature = 0}, rng) == Ids{3, 4, 0, 1, 2, 3});
}

TEST_CASE("train: the same seed gives the same bits, another one others") {
  Matrix ends[3];
  for (int i = 0; i < 3; ++i) {
    ParamStore store;
    Rng rng(1);
    Gpt gpt(store, small(), rng);
    const Ids text = in_circles(100);
    Trainer trainer(gpt, text, {.steps = 3, .batch = 2, .warmup = 1}, i == 2 ? 9 : 2);
    for (int t = 0; t < 3; ++t) trainer.step();
    ends[i] = Matrix(store.find("tokens")->value);
  }
  CHECK(bit_difference(ends[0], ends[1]) == "");
  CHECK(bit_difference(ends[0], ends[2]) != "");
}

TEST_CASE("train: the rate follows the schedule, and a short run has a short warm-up") {
  ParamStore store;
  Rng rng(1);
  Gpt gpt(store, small(), rng);
  const Ids text = in_circles(100);
  Trainer trainer(gpt, text, {.steps = 4, .batch = 1, .rate = 1, .floor = 0.5, .warmup = 100}, 2);
  trainer.step();
  CHECK(trainer.adamw.rate == Approx(0.25));
  CHECK(trainer.adamw.beta2 == Approx(0.99));
}

TEST_CASE("train: the held-out loss is the mean over whole windows, and dropout is off") {
  GptSettings s = small();
  s.dropout = 0.5;
  ParamStore store;
  Rng rng(1);
  Gpt gpt(store, s, rng);
  for (Param& p : store.all) p.set(random_matrix(p.value.shape(), rng));
  const Ids text = in_circles(8 * 20 + 1);
  const double all = loss_on(gpt, text, 1000);
  CHECK(loss_on(gpt, text, 1000) == all);
  CHECK(gpt.training());
  gpt.training(false);
  double sum = 0;
  for (int i = 0; i < 19; ++i) {  // 161 tokens: 153 places where a window can start, so 19 windows that do not meet
    Tape tape;
    Windows w;
    w.at(text, {int(153.0 * i / 19)}, 8);
    sum += double(gpt.loss(tape, w.inputs, w.targets, 1).value()(0, 0)) / 19;
  }
  CHECK(all == Approx(sum).epsilon(1e-5));
  CHECK_THROWS_WITH(loss_on(gpt, in_circles(8)), ContainsSubstring("in a text of 8"));
  CHECK_NOTHROW(loss_on(gpt, in_circles(9)));
}

TEST_CASE("train: the progress line") {
  CHECK(progress_line(300, 2000, 2.3049, 36000, 0.3) == "step 300 of 2000   loss 2.305   120k tokens/s   0:02 left");
  CHECK(progress_line(10, 2000, 4, 1000, 10) == "step 10 of 2000   loss 4.000   0k tokens/s   33:10 left");
  CHECK(progress_line(0, 10, 4, 0, 0) == "step 0 of 10   loss 4.000   0k tokens/s   0:00 left");
}
