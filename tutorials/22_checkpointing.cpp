// tutorials/22_checkpointing.cpp: keep little, compute it again on the way back: less memory, the same gradient.
// Read first: 02_tape.   Helpful: 17_encoder_block.   The op: engine/recompute.h, used by page/segments.h and layers/encoder.h
#include "layers/encoder.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
#include "tutorials/page/segments.h"
using namespace glass;

// One step of such a chain; how many numbers were in memory at the worst moment, beyond the parameters.
static double peak(int n, int k, Mat x, Mat dY, std::uint64_t seed) {
  segments::Net net(n, k, x.cols, seed);
  Tape tape;
  tape.backward(net(tape.input(x, "X"), k == 0), dY);
  return double(tape.peak_bytes()) / sizeof(Real);
}

// A stack of encoder blocks with dropout, forward and back; returns dX.
static Matrix stack(Mat x, Mat dY, int every, bool draw_anew) {
  ParamStore params;
  Rng rng(5);
  Encoder encoder(params, "", 4, {.C = x.cols, .heads = 2, .dropout = 0.2}, rng);
  encoder.recompute_every = every;
  Tape tape;
  const Var X = tape.input(x, "X"), Y = encoder(X);
  if (draw_anew) encoder.blocks[0].drop_1.p = 0.6;  // another choice in the second run
  tape.backward(Y, dY);
  return Matrix(X.grad());
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "22");
  const Var X = page.word_vectors("X");

  page.step("Keep everything", "X → tanh(X W0) → ... → Y", "six layers; the tape keeps every value, because the way back reads it");
  segments::Net kept(6, 0, X.shape().cols, page.seed()), again(6, 3, X.shape().cols, page.seed());
  const Var Y = kept(X, true);
  const long run_when_kept = segments::layers_run;
  page.show_tape(page.tape);
  page.show({X, Y}, page.words());

  page.step("Keep two", "Y = segment(segment(X))", "three layers are one line: the first time they run, nothing inside is kept");
  Tape small;
  const Var x = small.input(X.value(), "X"), y = again(x, false);
  page.show_tape(small);
  page.check("the same Y, every bit", by_hand::distance(y.value(), Y.value()) == 0);

  page.part("Back", "And back. A segment runs again, now keeping its lines, goes back through\nthem and forgets them; then the segment before it does the same.");
  page.step("Given", "dY = dL/dY");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  small.backward(y, dY);
  page.show_gradient({Y});
  page.step("The result", "dX and every dW", "sums are made in the same order, so not one bit differs");
  page.show_gradient({X});
  page.show_gradient({page.tape.find("W0"), page.tape.find("W5")});
  page.check("recomputed dX = kept dX, every bit", by_hand::distance(x.grad(), X.grad()) == 0);
  bool same = true;
  for (const Param& p : kept.params.all) same &= by_hand::distance(p.grad, again.params.find(p.name)->grad) == 0;
  page.check("all six dW too", same);
  page.check("layers run: 6 when kept, 12 when recomputed", run_when_kept == 6 && segments::layers_run == 18);

  page.part("More", "What it costs and saves.");
  page.step("Length of a segment", "about n/k + k values, least at k = √n", "16 layers; numbers in memory at the worst moment");
  const int lengths[] = {0, 1, 2, 4, 8, 16};
  Matrix row(Shape{1, 6});
  for (int i = 0; i < 6; ++i) row(0, i) = Real(peak(16, lengths[i], X.value(), dY, page.seed()));
  page.show_matrix("peak", row, {"numbers"}, {"keep", "k = 1", "2", "4", "8", "16"});
  page.check("k = 4 = √16 needs less than half of keeping all", row(0, 3) < row(0, 0) / 2);
  page.check("and less than k = 1 and k = 16", row(0, 3) < row(0, 1) && row(0, 3) < row(0, 5));
  page.step("Depth", "keep: grows as n   k = √n: grows as √n");
  Matrix depth(Shape{2, 3});
  for (int i = 0; i < 3; ++i) {
    const int n = 16 << 2 * i;
    for (const int k : {0, 4 << i}) depth(k > 0, i) = Real(peak(n, k, X.value(), dY, page.seed()));
  }
  page.show_matrix("peak", depth, {"keep  ", "k = √n"}, {"n = 16", "64", "256"});
  page.check("four times as deep: more than 3.5 times as much", depth(0, 2) > 3.5 * depth(0, 1));
  page.check("with k = √n less than 2.5 times", depth(1, 2) < 2.5 * depth(1, 1));

  page.step("Dropout", "the second run must make the choices of the first", "the generators are put back for it, and go on from where they were after it");
  const Matrix dX = stack(X.value(), dY, 0, false);
  page.check("four encoder blocks: the same dX, every bit", by_hand::distance(stack(X.value(), dY, 2, false), dX) == 0);
  page.check("had the second run chosen otherwise: a wrong dX", by_hand::distance(stack(X.value(), dY, 2, true), dX) > 1e-3);
  return page.done();
} catch (const std::exception& e) {
  return fail("22", e);
}
