// tutorials/18_decoder_block.cpp: a decoder block: look back, look at the source, think.
// Read first: 17_encoder_block.   Helpful: 13_cross_attention.   The layer: layers/decoder_block.h
#include "layers/decoder_block.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// The layer on a tape of its own, on the first n words only. Returns its output.
static Matrix run_layer(DecoderBlock& block, Mat x, Mat z, int n, const Mask* mask) {
  Tape tape;
  return Matrix(block(tape.input(x.block(0, 0, n, x.cols), "X"), tape.input(z, "Z"), {.mask = mask}).value());
}

// The gradient of Z when two blocks, one behind the other, read it: of the first alone, of the second, of both.
static std::vector<Matrix> memory_gradients(DecoderBlock& one, DecoderBlock& two, Mat x, Mat z, const Mask& mask, Mat dY) {
  std::vector<Matrix> all;
  for (const int which : {0, 1, 2}) {
    Tape tape;
    const Var Z = tape.input(z, "Z"), still = tape.constant(z, "Z, held still");
    const Var middle = one(tape.input(x, "X"), which == 1 ? still : Z, {.mask = &mask});
    tape.backward(two(middle, which == 0 ? still : Z, {.mask = &mask}), dY);
    all.emplace_back(Z.grad());
  }
  return all;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "18");
  Tape& tape = page.tape;
  const bool pre = page.options.variant != "post";
  const Var X = page.word_vectors("X");
  const Labels words = page.words(), source = {"le", "chat", "dort"};
  const int C = X.shape().cols, n = X.shape().rows, m = 3;
  Matrix z(Shape{m, C});
  for (int j = 0; j < m; ++j) cpu_backend().copy(page.word_vector(source[std::size_t(j)], C), z.view().block(j, 0, 1, C));
  const Var Z = tape.input(page.matrix("Z", z), "Z");
  if (Z.shape() != Shape{m, C}) throw InputError("--set Z: it must have 3 rows, and as many columns as X");
  const BlockSettings settings{.C = C, .heads = 1, .hidden = 6, .norm = pre ? NormPlace::pre : NormPlace::post, .bias = Bias::no};
  DecoderBlock block(page.params, "", settings, page.rng);
  page.settle(page.params);
  const Mask causal = Mask::causal(n, n);

  page.step("Two texts", "X  Z", "X: the words written so far. Z: the memory, what an encoder made of the source");
  page.show({X}, words);
  page.show({Z}, source);

  page.step("Look back", pre ? "R1 = X + self(norm(X))" : "N1 = norm(X + self(X))", "attention of X to itself; a word sees itself and the words before it");
  std::vector<Var> A;
  const Var M1 = block.self(pre ? block.norm_1(X) : X, {.mask = &causal, .weights = &A}).named("M1");
  const Var R1 = add(X, M1).named("R1"), one = pre ? R1 : block.norm_1(R1).named("N1");
  A[0].named("A self");
  page.show({A[0]}, words, words);
  page.show({one}, words);

  page.step("Look at the source", pre ? "R2 = R1 + cross(norm(R1), Z)" : "N2 = norm(N1 + cross(N1, Z))", "queries from here, keys and values from Z; nothing is hidden, and Z has no norm of its own here");
  const Var M2 = block.cross(pre ? block.norm_2(one) : one, Z, {.weights = &A}).named("M2");
  const Var R2 = add(one, M2).named("R2"), two = pre ? R2 : block.norm_2(R2).named("N2");
  A[1].named("A cross");
  page.show({A[1]}, words, source);
  page.show({two}, words);

  page.step("Think", pre ? "R3 = R2 + feed_forward(norm(R2))" : "N3 = norm(N2 + feed_forward(N2))", "each row on its own, as in the encoder");
  const Var F = block.feed_forward(pre ? block.norm_3(two) : two).named("F");
  const Var R3 = add(two, F).named("R3"), Y = pre ? R3 : block.norm_3(R3).named("N3");
  page.show({F, Y}, words);
  page.spell(R3, 0, 0);

  page.part("Back", "And back, through three sums.");
  page.step("Given", pre ? "dR3 = dL/dR3" : "dN3 = dL/dN3");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y});
  page.step("Behind the source", pre ? "dR2 = dR3 + through feed_forward" : "dN2 = dR3 + through feed_forward");
  page.show_gradient({two});
  page.step("Into both sides", "dA cross   dZ = dK W_kᵀ + dV W_vᵀ", "the memory gets its gradient here, and only here");
  page.label(A[1], words, source);
  page.label(Z, source);
  page.show_gradient({A[1]});
  page.show_gradient({Z});
  page.step("Into the words", "dX = dR1 + through self");
  page.show_gradient({A[0]});
  page.show_gradient({X});
  bool all = true;
  for (const Param& p : page.params.all) all = all && gradient_gap(tape, Y, dY, tape.find(p.name.c_str())).ok();
  page.check("the gradients of all weights and gains too", all);

  page.part("More", "What makes a decoder.");
  page.step("All at once = one after the other", "rows 0 ... t need words 0 ... t only");
  bool same = true;
  for (int t = 1; t <= n; ++t) {
    const Mask small = Mask::causal(t, t);
    same = same && by_hand::distance(run_layer(block, X.value(), Z.value(), t, &small), Y.value().block(0, 0, t, C)) < 1e-12;
  }
  page.check("the first t words alone give the first t rows", same);
  page.check("without the causal mask row 0 has seen the future", n < 2 || by_hand::distance(run_layer(block, X.value(), Z.value(), n, nullptr).view().block(0, 0, 1, C), Y.value().block(0, 0, 1, C)) > 1e-3);

  page.step("One memory, many layers", "dZ = Σ over layers", "every decoder layer reads the same Z");
  ParamStore more;
  DecoderBlock second(more, "", settings, page.rng);
  const std::vector<Matrix> dZ = memory_gradients(block, second, X.value(), Z.value(), causal, dY);
  page.check("dZ of two layers = dZ of the first + dZ of the second", {{dZ[2], by_hand::sum(dZ[0], dZ[1])}});
  return page.done();
} catch (const std::exception& e) {
  return fail("18", e);
}
