// tutorials/17_encoder_block.cpp: a transformer encoder block, pre-norm in full, post-norm beside it.
// Read first: 12_multi_head.   Helpful: 07_layer_norm, 08_feed_forward.   The layer: layers/encoder_block.h
#include <cmath>

#include "layers/encoder.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// The layer on a tape of its own: the same numbers and gradients as the steps. Returns its output.
static Matrix run_layer(EncoderBlock& block, Mat x, Mat dY, Matrix& dX) {
  Tape tape;
  const Var X = tape.input(x, "X"), Y = block(X);
  tape.backward(Y, dY);
  dX = Matrix(X.grad());
  return Matrix(Y.value());
}

static bool differ(Mat a, Mat b) { return by_hand::distance(a, b) > 1e-3; }

// The length of the rows behind each of eight blocks with fresh weights.
static void measure_stack(Page& page, NormPlace place, Mat x, Mat lengths) {
  Rng rng(page.seed());
  ParamStore store;
  Encoder stack(store, "", 8, {.C = x.cols, .heads = 2, .norm = place}, rng);
  Tape tape;
  Var X = tape.input(x, "X");
  for (int l = 0; l < 8; ++l) lengths(0, l) = Real(by_hand::norm((X = stack.blocks[std::size_t(l)](X)).value()));
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "17");
  const NormPlace place = page.options.variant == "post" ? NormPlace::post : NormPlace::pre;
  const bool pre = place == NormPlace::pre;
  const Var X = page.word_vectors("X");
  const Labels words = page.words();
  const int C = X.shape().cols;
  EncoderBlock block(page.params, "", {.C = C, .heads = 2, .hidden = 6, .norm = place, .bias = Bias::no}, page.rng);
  page.settle(page.params);

  page.step("Attention", pre ? "N1 = norm(X)   M = heads(N1) W_o" : "M = heads(X) W_o",
            pre ? "pre-norm: attention reads rows of mean 0 and deviation 1; X itself stays" : "post-norm: attention reads X as it is");
  const Var in_1 = pre ? block.norm_1(X).named("N1") : X;
  const Var Q = block.attention.q(in_1).named("Q"), K = block.attention.k(in_1).named("K"), V = block.attention.v(in_1).named("V");
  std::vector<Var> A;
  const Var heads = multi_head(Q, K, V, {.heads = 2, .weights = &A}).named("heads");
  A[0].named("A0"), A[1].named("A1");
  const Var M = block.attention.o(heads).named("M");
  if (pre) page.show({X, in_1}, words); else page.show({X}, words);
  page.show({A[0], A[1]}, words, words);
  page.label(heads, words);

  page.step("Add", pre ? "R1 = X + M" : "R1 = X + M   N1 = norm(R1)", "the residual connection: a block changes X, it does not replace it");
  const Var R1 = add(X, M).named("R1"), mid = pre ? R1 : block.norm_1(R1).named("N1");
  page.show({M, R1}, words);
  page.spell(R1, 0, 0);

  page.step("Feed forward", pre ? "N2 = norm(R1)   U = N2 W_1   H = relu(U)   F = H W_2" : "U = N1 W_1   H = relu(U)   F = H W_2", "each row on its own");
  const Var in_2 = pre ? block.norm_2(R1).named("N2") : mid;
  const Var U = block.feed_forward.up(in_2).named("U"), H = relu(U).named("H"), F = block.feed_forward.down(H).named("F");
  page.show({in_2, H}, words);

  page.step("Add", pre ? "R2 = R1 + F" : "R2 = N1 + F   N2 = norm(R2)", "the result: again one row per word, as wide as X, ready for the next block");
  const Var R2 = add(mid, F).named("R2"), Y = pre ? R2 : block.norm_2(R2).named("N2");
  page.show({F, Y}, words);

  page.part("Back", "And back. At every + the gradient goes both ways, unchanged.");
  page.step("Given", pre ? "dR2 = dL/dR2" : "dN2 = dL/dN2");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y, H});

  page.step("Through the feed-forward part", pre ? "dR1 = dR2 + norm'(dN2)" : "dN1 = dR2 + dU W_1ᵀ",
            pre ? "two ways back to R1: straight on, and through F, H, U and the norm" : "two ways back to N1: straight on, and through F, H and U");
  page.show_gradient({pre ? in_2 : R2, mid});
  page.spell_gradient(mid, 0, 0);

  page.step("Through attention", "dM = dR1, then heads, weights, Q K V", "lessons 09 and 12 go through these one by one");
  page.show_gradient({M, heads});
  page.show_gradient({A[0], A[1]});

  page.step("Into the words", pre ? "dX = dR1 + norm'(dQ W_qᵀ + dK W_kᵀ + dV W_vᵀ)" : "dX = dR1 + dQ W_qᵀ + dK W_kᵀ + dV W_vᵀ");
  page.show_gradient({X});
  bool all = true;
  for (const Param& p : page.params.all) all = all && gradient_gap(page.tape, Y, dY, page.tape.find(p.name.c_str())).ok();
  page.check("the gradients of all weights and gains too", all);

  page.part("More", "Around the block.");
  page.step("The layer", "EncoderBlock", "the same as the steps above; with dropout in three places while it learns");
  Matrix dX(X.shape()), dX_other(X.shape());
  page.params.zero_grad();
  const Matrix y = run_layer(block, X.value(), dY, dX);
  page.check("EncoderBlock: Y, dX", {{y, Y.value()}, {dX, X.grad()}});
  block.drop_1.p = block.drop_hidden.p = block.drop_2.p = 0.5;
  page.check("training, p = 0.5: two runs differ", differ(run_layer(block, X.value(), dY, dX), run_layer(block, X.value(), dY, dX)));
  block.training(false);
  page.check("evaluation: two runs agree, and drop nothing", {{run_layer(block, X.value(), dY, dX), Y.value()}, {run_layer(block, X.value(), dY, dX), Y.value()}});
  block.place = pre ? NormPlace::post : NormPlace::pre;
  page.check(pre ? "post-norm with the same weights: other numbers" : "pre-norm with the same weights: other numbers", differ(run_layer(block, X.value(), dY, dX_other), Y.value()));

  page.step("Nothing but the sum", "W_o = 0   W_2 = 0", "many models start near this point");
  for (Param* p : {block.attention.o.W, block.feed_forward.down.W}) p->set(Matrix(p->value.shape()));
  block.place = NormPlace::pre;
  const Matrix same = run_layer(block, X.value(), dY, dX);
  page.check("pre-norm: Y is X, and dX is dY, untouched", {{same, X.value()}, {dX, dY}});
  block.place = NormPlace::post;
  page.check("post-norm: two norms remain", differ(run_layer(block, X.value(), dY, dX), X.value()) && differ(dX, dY));

  page.step("Eight blocks at the start", "√(Σ y²) behind each", "pre-norm adds on and on, so a last norm stands behind the stack");
  Matrix lengths(Shape{2, 8});
  measure_stack(page, NormPlace::pre, X.value(), lengths.view().block(0, 0, 1, 8));
  measure_stack(page, NormPlace::post, X.value(), lengths.view().block(1, 0, 1, 8));
  page.show_matrix("length", lengths, {"pre ", "post"});
  page.check("pre-norm: it grows with depth", lengths(0, 7) > 1.5 * lengths(0, 0));
  page.check("post-norm: it is √(n C) behind every block", lengths(1, 7), std::sqrt(double(X.shape().rows * C)), 1e-4);
  return page.done();
} catch (const std::exception& e) {
  return fail("17", e);
}
