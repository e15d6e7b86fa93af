// tutorials/32_attention_residuals.cpp: instead of adding up what all layers said, choose among them, token by token.
// Read first: 17_encoder_block.   Next: see the end of the output.   The layer: layers/attention_residuals.h
#include "layers/attention_residuals.h"

#include <cmath>

#include "layers/optim/adamw.h"
#include "layers/rms_norm.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static constexpr int kLayers = 6, kSteps = 200;

// Six sub-layers v_l = tanh(norm(h_l) W_l) and a norm. W: the six below each other. Without `depth` h_l is the sum of all before.
static Var network(Var X, Param& W, const RmsNorm& norm, const AttentionResiduals* depth) {
  const int C = X.shape().cols;
  const Var all = X.tape->use(W);
  DepthStream x(depth, X);
  for (int l = 0; l < kLayers; ++l) x.write(tanh(matmul(norm(x.read()), X.tape->rows(all, l * C, C))));
  return norm(x.read());
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "32");
  Tape& tape = page.tape;
  const Var X = page.word_vectors("v_0");
  const int n = X.shape().rows, C = X.shape().cols;
  const Labels words = page.words(), sources = {"v_0", "v_1", "v_2", "v_3", "v_4", "v_5", "v_6"}, reads = {"h_1", "h_2", "h_3", "h_4", "h_5", "h_6", "out"};
  Param &v_1 = page.params.make("v_1", {n, C}, Init::normal, page.rng), &v_2 = page.params.make("v_2", v_1.value.shape(), Init::normal, page.rng);
  Param &query = page.params.make("w", {1, C}, Init::normal, page.rng), &gains = page.params.make("gain", {1, C}, Init::ones, page.rng);
  ParamStore learned, other;
  Param& W = learned.make("W", {kLayers * C, C}, Init::normal, page.rng);
  const AttentionResiduals full(learned, "", kLayers, C, page.rng), blocks(other, "", kLayers, C, page.rng, 2);
  const RmsNorm norm(other, "", C, page.rng, 0);
  page.settle(page.params);
  page.settle(learned);
  const std::vector<Var> v = {X, tape.use(v_1), tape.use(v_2)};
  const Var w = tape.use(query), gain = tape.use(gains);

  page.step("Sources", "v_0 = the words   v_1, v_2 = what two sub-layers gave", "a sub-layer is an attention or a feed-forward; here v_1, v_2 are random");
  page.show({v[0], v[1], v[2]}, words);
  page.step("Scores over depth", "k_i = rms_norm(v_i) ∘ gain   s_i = k_i · w", "w asks. It is learned: one for a sub-layer, the same for every word");
  page.show({w, gain});
  const Var h = attend_over_depth(v, transpose(w), gain), s = tape.find("s"), alpha = tape.find("alpha");
  page.step("Weights", "α = softmax(s)", "each word on its own: how much of each source it takes");
  page.show_row_sums(alpha, words, {"v_0", "v_1", "v_2"});
  page.step("What the next sub-layer reads", "h = Σ_i α_i v_i", "in place of v_0 + v_1 + v_2; the values are not normalised");
  page.show({h}, words);
  page.spell(h, 0, 0);
  page.part("Back", "And back. (ok: nudging every number a little gives the same gradient.)");
  const Matrix dh = page.random_seed(h), ds(s.shape());
  page.backward(h, dh);
  page.step("To the scores", "dα_i = dh · v_i   ds_i = α_i (dα_i − dh · h)", "for each word; dh is random");
  page.show_gradient({h});
  page.label(s, words, {"v_0", "v_1", "v_2"});
  page.show_gradient({alpha, s});
  for (int r = 0; r < n; ++r)
    for (int i = 0; i < 3; ++i)
      ds(r, i) = alpha.value()(r, i) * (alpha.grad()(r, i) - Real(by_hand::dot(dh.view().block(r, 0, 1, C), h.value().block(r, 0, 1, C))));
  page.check("formula for ds", {{s.grad(), ds}});
  page.step("To the query", "dw = Σ ds_i k_i over words and sources");
  page.show_gradient({w, gain});
  page.step("To the sources", "dv_i = α_i dh + what comes back through k_i");
  page.show_gradient({v[0]});
  page.spell_gradient(v[0], 0, 0);
  page.check("dv_1, dv_2 = differences", gradient_gap(tape, h, dh, v[1]).ok() && gradient_gap(tape, h, dh, v[2]).ok());

  page.part("More", "Five things to know.");
  page.step("The start", "w = 0", "all scores are 0, so each source gets the same weight");
  Tape start;
  const Var zero = start.input(Matrix(Shape{C, 1}), "w"), g = start.input(gain.value(), "gain");
  const Var mean = attend_over_depth({start.constant(v[0].value(), "v"), start.constant(v[1].value(), "v"), start.constant(v[2].value(), "v")}, zero, g);
  start.backward(mean, dh);
  page.check("h is the mean of its sources", {{mean.value(), by_hand::scaled(1 / 3.0, by_hand::sum(by_hand::sum(v[0].value(), v[1].value()), v[2].value()))}});
  page.check("dgain is exactly 0 and dw is not: the query moves first", by_hand::norm(g.grad()) == 0 && by_hand::norm(zero.grad()) > 0);
  page.step("A network", "v_l = tanh(norm(h_l) W_l), six times, and a norm", "h_l: the residual sum; or of all sources; or of blocks of 2. All w = 0");
  const AttentionResiduals* kinds[] = {nullptr, &full, &blocks};
  Tape tapes[3];
  Var x[3], out[3];
  Matrix dW[3], rms(Shape{3, kLayers + 1});
  for (int k = 0; k < 3; ++k) {
    learned.zero_grad();
    out[k] = network(x[k] = tapes[k].input(X.value(), "X"), W, norm, kinds[k]);
    tapes[k].backward(out[k], dh);
    dW[k] = W.grad;
    int l = 0;
    for (const Node& node : tapes[k].nodes)
      if (node.name == std::string("h")) rms(k, l++) = Real(by_hand::norm(node.value) / std::sqrt(double(n * C)));
  }
  page.check("three networks, one output: a norm forgets sum or mean", {{out[1].value(), out[0].value()}, {out[2].value(), out[0].value()}});
  page.check("and the same gradients of all W_l and of the words", {{dW[1], dW[0]}, {dW[2], dW[0]}, {x[1].grad(), x[0].grad()}, {x[2].grad(), x[0].grad()}});
  page.step("How large is what they read?", "root mean square of h_l", "the sum tends to grow. A mean is that sum, divided by the number of sources");
  page.show_matrix("rms", rms, {"residual", "full", "blocks"}, reads);
  page.check("the output's 7 sources, or 4 in blocks: 1/7 and 1/4 of the sum", {{Matrix{{rms(1, 6), rms(2, 6)}}, Matrix{{rms(0, 6) / 7, rms(0, 6) / 4}}}});
  page.step("In two phases", "h = (1 − β) h' + β v_2   β = sigmoid(s_2 − ln Σ e^s_i)", 
            "h' of the finished sources, for all queries of a block at once; then v_2");
  page.check("the same h", {{attend_in_two_phases({v[0], v[1]}, v[2], transpose(w), gain).value(), h.value()}});
  page.step("Learn to choose", "200 steps of AdamW on a toy: out = sin(2 v_0)", "α of each read, mean over the words. Row h_l: how much of each v_i");
  AdamW adamw(learned, 0.02, 0);
  double before = 0, after = 0;
  for (int t = 0; t <= kSteps; ++t) {
    tapes[0].rewind();
    const Var given = tapes[0].constant(X.value(), "X"), loss = mse(network(given, W, norm, &full), sin(scale(given, 2)));
    (t ? after : before) = double(loss.value()(0, 0));
    learned.zero_grad();
    tapes[0].backward(loss);
    if (t < kSteps) adamw.step();
  }
  Matrix map(Shape{kLayers + 1, kLayers + 1});
  int row = 0;
  for (const Node& node : tapes[0].nodes)
    if (node.name == std::string("alpha")) tape.be.copy(by_hand::scaled(1.0 / n, by_hand::col_sums(node.value)), map.view().block(row, 0, 1, row + 1)), ++row;
  page.show_matrix("alpha", map, reads, sources);
  page.say("   The loss was " + page.measured(before) + " with means, and is " + page.measured(after) + ".");
  page.check("the loss fell, and v_0 and v_1 no longer count alike for the output", after < before && map(kLayers, 0) != map(kLayers, 1));
  return page.done();
} catch (const std::exception& e) {
  return fail("32", e);
}
