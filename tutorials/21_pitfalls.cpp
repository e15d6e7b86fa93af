// tutorials/21_pitfalls.cpp: five ways in which attention fails, each with its number, a threshold and the mend.
// Read first: 17_encoder_block, 20_training.   The report: engine/health.h, and --health on any lesson
#include <cmath>

#include "engine/health.h"
#include "layers/attention/flash.h"
#include "layers/attention/multi_head.h"
#include "tutorials/page/failures.h"
#include "tutorials/page/by_hand.h"
using namespace glass;

// Row `row` of both tables at blocks 0, 2, 4, 6, 8 and 11.
static Matrix some(Mat bare, Mat whole, int row) {
  Matrix few(Shape{2, 6});
  const int at[] = {0, 2, 4, 6, 8, 11};
  for (int i = 0; i < 6; ++i) few(0, i) = bare(row, at[i]), few(1, i) = whole(row, at[i]);
  return few;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "21");
  Rng rng(page.seed());
  const int n = 8, C = 16;
  Matrix x(Shape{n, C}), dY(Shape{n, C});
  for (Mat m : {x.view(), dY.view()})
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < C; ++c) m(i, c) = Real(rng.normal());

  page.say("\nEach failure: the configuration, a number, a threshold, the mend. Eight random\nwords of width 16 unless said otherwise. All weights start by chance (--seed).");
  page.step("The gradient fades", "12 blocks: bare, and with sums and norms", "|gradient| of all weights of each block");
  Matrix bare(Shape{2, 12}), whole(Shape{2, 12});
  failures::deep(x, dY, true, page.seed(), bare);
  failures::deep(x, dY, false, page.seed(), whole);
  const Labels rows = {"bare", "mended"}, blocks = {"block 0", "2", "4", "6", "8", "11"};
  page.show_matrix("gradient", some(bare, whole, 0), rows, blocks);
  page.check("failure: block 0 gets less than 1/50 of block 11", bare(0, 0) < bare(0, 11) / 50);
  page.check("mended by sums and norms: between 1/2 and 30 times as much", whole(0, 0) > whole(0, 11) / 2 && whole(0, 0) < 30 * whole(0, 11));

  page.step("The words become one", "the same blocks", "how much the rows differ behind each: √(Σ (row - mean row)²) / √(Σ row²)");
  page.show_matrix("spread", some(bare, whole, 1), rows, blocks);
  page.check("failure: behind block 11 less than 1/1000 is left", bare(1, 11) < 1e-3);
  page.check("mended by sums: more than 1/5", whole(1, 11) > 0.2);
  page.say("   Every head takes means of rows, and means of means are all alike.");

  page.step("Heads that do nothing", "two heads that start alike; a head without queries");
  const double copies = failures::heads_apart(x, true, page.seed()), heads = failures::heads_apart(x, false, page.seed());
  page.say("   Two heads learn for 50 steps. |A0 - A1| if they start as copies: " + page.measured(copies) + ",\n   by chance: " + page.measured(heads));
  page.check("failure: copies get the same gradients and stay copies", copies == 0);
  page.check("mended by chance: more than 0.1", heads > 0.1);
  Tape tape;
  const Var K = tape.input(x, "K"), none = tape.input(Matrix(Shape{n, C}), "Q = 0");
  const Var dead = plain_attention(none, K, K), sharp = plain_attention(tape.input(by_hand::scaled(100, x), "100 Q"), K, K);
  tape.backward(add(dead, sharp), dY);
  const std::vector<HeadHealth> health = head_health(tape);
  page.say("   Row entropy, from 0 (one word) to ln 8 = " + page.measured(std::log(8.0)) + " (all alike):");
  page.say("   no queries: " + page.measured(health[0].entropy) + "   100 times too large: " + page.measured(health[1].entropy));
  page.check("dead: the entropy is ln n, every row is the mean of V", health[0].entropy, std::log(8.0));
  page.check("saturated: more than 3 rows in 4 above 0.99", health[1].saturated > 0.75);
  page.check("its dQ is below 1/1000: softmax is flat there", by_hand::norm(tape.node(tape.find("100 Q")).grad) < 1e-3);

  page.step("Learning by heart", "16 questions, 300 steps", "loss on those 16, and on 200 that were never seen; a guess: ln 6 = 1.79");
  const failures::Losses same = failures::learn(page, false), fresh = failures::learn(page, true);
  page.say("   the same 16 again and again: " + page.measured(same.seen) + " and " + page.measured(same.unseen));
  page.say("   16 new ones in each step: " + page.measured(fresh.seen) + " and " + page.measured(fresh.unseen));
  page.check("failure: nothing wrong on the 16, worse than a guess outside", same.seen < 0.01 && same.unseen > std::log(6.0));
  page.check("mended by data: less than 0.3 outside", fresh.unseen < 0.3);
  ParamStore params;
  MultiHeadAttention layer(params, "", 512, 8, rng);
  double weights = 0;
  for (const Param& p : params.all) weights += double(count(p.value.shape()));
  page.check("one layer of width 512 has 4 · 512² = 1048576 weights", weights, 1048576);

  page.step("Memory", "n² numbers", "one head of width 4, forward and back; the most numbers at once");
  Matrix memory(Shape{2, 4});
  for (int i = 0; i < 4; ++i) {
    memory(0, i) = Real(failures::numbers_in_memory(plain_attention, 64 << i));
    memory(1, i) = Real(failures::numbers_in_memory(FlashAttention(), 64 << i));
  }
  page.show_matrix("numbers", memory, {"plain", "flash"}, {"n = 64", "128", "256", "512"});
  page.check("failure: twice the words, 4 times the memory (3.7 to 4.1)", memory(0, 3) / memory(0, 2) > 3.7 && memory(0, 3) / memory(0, 2) < 4.1);
  page.check("mended by tiles (lesson 24): twice, at most 2.1 times", memory(1, 3) / memory(1, 2) <= 2.1);

  page.step("Overflow", "e^x", "the largest x: 88.72 in float, 709.78 in double");
  page.check("e^88.8 is inf in float, e^88.7 is not", std::isinf(std::exp(88.8f)) && !std::isinf(std::exp(88.7f)));
  page.check("e^709.8 is inf in double, e^709.7 is not", std::isinf(std::exp(709.8)) && !std::isinf(std::exp(709.7)));
  const double e = std::exp(710.0);
  page.check("failure: scores 710, 710: inf / (inf + inf) is no number", std::isnan(e / (e + e)));
  page.check("mended: minus the row maximum first: 1/2, 1/2", {{softmax(tape.constant(Matrix{{710, 710}}, "E")).value(), Matrix{{0.5, 0.5}}}});
  return page.done();
} catch (const std::exception& e) {
  return fail("21", e);
}
