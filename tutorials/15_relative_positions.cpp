// tutorials/15_relative_positions.cpp: places inside the scores, where only the distance of query and key counts.
// Read first: 14_positions.   Next: see the end of the output.   The layers: layers/positional/
#include <cmath>

#include "layers/linear.h"
#include "layers/positional/alibi.h"
#include "layers/positional/rotary.h"
#include "layers/positional/shaw.h"
#include "layers/positional/t5_bias.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;
using Pairs = Rotary::Pairs;

struct Way {
  const Variant& attend;
  const char *title, *formula, *note;
  std::vector<const char*> forward, back;  // lines of the tape to show; "a,b" are shown side by side
};

static void show(Page& page, const std::string& names, bool gradient) {
  const std::size_t comma = names.find(',');
  const Var a = page.tape.find(names.substr(0, comma).c_str()), b = page.tape.find(names.substr(comma + 1).c_str());
  if (comma == std::string::npos) return gradient ? page.show_gradient({a}) : page.show({a});
  gradient ? page.show_gradient({a, b}) : page.show({a, b});
}

static double score(Mat q, int q_at, Mat k, int k_at, Pairs pairs_q = Pairs::interleaved, Pairs pairs_k = Pairs::interleaved) {
  Tape tape;
  return by_hand::dot(rotary(tape.constant(q, "q"), {.pairs = pairs_q, .first = q_at}).value(), rotary(tape.constant(k, "k"), {.pairs = pairs_k, .first = k_at}).value());
}

// On a tape of its own: is every gradient right, and does the last query alone get the last row of Y?
static bool is_right(const Variant& attend, Mat Q, Mat K, Mat V, Mat dY, const Call& call) {
  Tape tape;
  const Var q = tape.input(Q, "Q"), k = tape.input(K, "K"), v = tape.input(V, "V"), Y = attend(q, k, v, call);
  tape.backward(Y, dY);
  for (int id = 0; id < Y.id; ++id) {
    const Node& line = tape.nodes[std::size_t(id)];
    if (line.grad.data && !line.rule && !gradient_gap(tape, Y, dY, tape.var(id)).ok()) return false;
  }
  const Mat alone = attend(tape.rows(q, Q.rows - 1, 1), k, v, call).value(), last = Y.value().block(Q.rows - 1, 0, 1, V.cols);
  return by_hand::norm(by_hand::sum(alone, by_hand::scaled(-1, last))) < 1e-12;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "15");
  Tape& tape = page.tape;
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows, C = X.shape().cols, d = page.shape_of("W_q", {C, 4}).cols, d_v = page.shape_of("W_v", {C, 3}).cols;
  const Linear to_q(page.params, "_q", C, d, page.rng, Bias::no), to_k(page.params, "_k", C, d, page.rng, Bias::no), to_v(page.params, "_v", C, d_v, page.rng, Bias::no);
  const RotaryAttention rope;
  const Alibi alibi;
  const T5Bias t5(page.params, "B", 1, true, page.rng, 8, 8);
  const Shaw shaw(page.params, "", 2, d, d_v, page.rng);
  page.settle(page.params);
  const std::vector<Way> ways = {
      {rope, "Turned queries and keys", "E = (Q turned) (K turned)ᵀ / √d", "columns 2i and 2i+1 of row p are turned by the angle θ = p 10000^(-2i/d)", {"Q turned,K turned", "E"}, {"E", "Q turned,K turned"}},
      {alibi, "A slope", "E = Q Kᵀ / √d   bias = −m |j − i|", "the further away, the lower the score; m = 1/2, the first of 8 heads", {"E", "bias", "E biased"}, {"E biased"}},
      {t5, "A learned number", "S = Q Kᵀ, no √d   bias_ij = B of the bucket of j − i", "buckets: 0, 1, 2-3, 4 and more places before; ahead, 4 rows further down", {"B", "S", "bias", "S biased"}, {"S biased", "B"}},
      {shaw, "A learned row", "E_ij = q_i · (k_j + aK_r) / √d   y_i = Σ A_ij (v_j + aV_r)", "r = j − i, at most 2 either way. R = Q aKᵀ; W_ir adds up all A_ij of this r", {"aK,aV", "R", "E", "W"}, {"W", "aV", "E", "R", "aK"}}};
  std::size_t chosen = 0;
  while (ways[chosen].attend.name() != page.options.variant) ++chosen;
  const Way& way = ways[chosen];
  const Call first_of_8{.allowed = nullptr, .head = 0, .heads = 8};
  const Labels words = page.words();

  page.step("Queries, keys, values", "Q = X W_q   K = X W_k   V = X W_v", "as in lesson 09; nothing is added to the words");
  const Var Q = to_q(X).named("Q"), K = to_k(X).named("K"), V = to_v(X).named("V");
  page.show({Q, K, V}, words);

  page.step(way.title, way.formula, way.note);
  const Var Y = way.attend(Q, K, V, first_of_8);
  for (int id = V.id + 1; id < Y.id; ++id) {  // scores have words on both sides, tables none
    const char first = *tape.nodes[std::size_t(id)].name;
    const bool pairs = first == 'E' || first == 'S' || first == 'b', table = first == 'a' || first == 'B';
    if (!table) page.label(tape.var(id), words, pairs ? words : Labels{});
  }
  for (const char* names : way.forward) show(page, names, false);
  if (chosen == 0) page.spell(tape.find("E"), n - 1, 0);
  if (chosen == 0) page.check("the last row: Q turned_0 = Q_0 cos p − Q_1 sin p", tape.find("Q turned").value()(n - 1, 0), Q.value()(n - 1, 0) * std::cos(n - 1.0) - Q.value()(n - 1, 1) * std::sin(n - 1.0));

  page.step("Weights and output", "A = softmax of the scores   Y = A V", "as always");
  page.show_row_sums(tape.find("A"), words, words);
  page.show({Y}, words);

  page.part("Back", "And back. (ok: nudging every number a little gives the same gradient.)");
  page.step("Through the weights", "dV = Aᵀ dY   dE = A ∘ (dA − rowsum(A ∘ dA))", "dY is random; dE, dV as in lesson 09");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y, V});
  for (const char* names : way.back) show(page, names, true);
  page.step("Into queries and keys", chosen == 0 ? "dQ = dQ turned, turned back by −θ" : "dQ, dK", chosen == 0 ? "the way back of a turn is the turn back" : "");
  page.show_gradient({Q, K});
  if (chosen == 0) page.check("turned back: rotary of d(Q turned) with −p for p", {{Q.grad(), rotary(tape.constant(tape.find("Q turned").grad(), "dq"), {.spacing = -1}).value()}});

  page.part("More", "Why it works, two ways to pair, and the other three.");
  page.step("Only the distance counts", "(R_p q) · (R_s k) = q · R_(s−p) k", "R_p turns as at place p. The last query and the first key, as if elsewhere:");
  const Mat q = Q.value().block(n - 1, 0, 1, d), k = K.value().block(0, 0, 1, d);
  Matrix products(Shape{2, 6});
  for (int j = 0; j < 6; ++j) products(0, j) = Real(score(q, j, k, 0)), products(1, j) = Real(score(q, j + 100, k, 100));
  page.show_matrix("q · k", products, {"k at 0", "k at 100"}, {"q at +0", "+1", "+2", "+3", "+4", "+5"});
  page.check("both rows are the same: only the distance is left", {{products.view().block(0, 0, 1, 6), products.view().block(1, 0, 1, 6)}});

  page.step("Two ways to pair", "interleaved: (0,1), (2,3)   half: (0,2), (1,3)", "the row 1 2 3 4 at place 1");
  const Var x = tape.constant(Matrix{{1, 2, 3, 4}}, "x"), moved = tape.constant(Matrix{{1, 3, 2, 4}}, "x moved"), halves = rotary(moved, {.pairs = Pairs::half, .first = 1});
  page.show({rotary(x, {.first = 1}).named("interleaved"), rotary(x, {.pairs = Pairs::half, .first = 1}).named("half")});
  const Mat y = tape.find("interleaved").value();
  page.check("the same, if the columns come in the order 0 2 1 3", {{halves.value(), Matrix{{y(0, 0), y(0, 2), y(0, 1), y(0, 3)}}}});
  if (d == 4) page.check("q in one way, k in the other: wrong, the place counts", std::fabs(score(q, 1, k, 0, Pairs::interleaved, Pairs::half) - score(q, 101, k, 100, Pairs::interleaved, Pairs::half)) > 1e-6);

  page.step("All four", "--variant alibi, t5 or shaw shows the others in full", "the last query alone stands at the end: it gets the last row of Y again");
  page.params.zero_grad();
  for (const Way& w : ways) page.check(std::string(w.attend.name()) + ": gradients = differences; the last query alone", is_right(w.attend, Q.value(), K.value(), V.value(), dY, first_of_8));
  page.check("alibi: the slopes of 8 heads are 1/2, 1/4, ... 1/256", alibi_slopes(8).front() == 0.5 && alibi_slopes(8).back() == 1.0 / 256);
  page.check("t5, 32 buckets: 91 places back and 500 share one", t5_bucket(-91, true) == 15 && t5_bucket(-500, true) == 15 && t5_bucket(-90, true) == 14);
  return page.done();
} catch (const std::exception& e) {
  return fail("15", e);
}
