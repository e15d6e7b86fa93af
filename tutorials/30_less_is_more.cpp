// tutorials/30_less_is_more.cpp: while a model writes, a few layers choose which words matter, and others read only those.
// Read first: 12_multi_head.   Next: see the end of the output.   The layers: layers/attention/less_is_more.h, top_k.h
#include "layers/attention/less_is_more.h"

#include <algorithm>

#include "layers/attention/top_k.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/chain.h"
#include "tutorials/page/page.h"
using namespace glass;

static std::string listed(Page& page, const std::vector<int>& tokens) {  // "on[3], the[0]"
  std::string text;
  for (const int j : tokens) text += (text.empty() ? "" : ", ") + page.words()[std::size_t(j)] + "[" + page.measured(j) + "]";
  return text;
}

static bool refused(LessIsMore& less, Var q, Var K) try {
  less(3, q, K, K, {.heads = 2});
  return false;
} catch (const ShapeError&) {
  return true;
}

// The example of the paper: eight tokens; each of four heads likes three of them best, in this order.
static void paper_example(Page& page) {
  const int ranks[4][3] = {{2, 1, 6}, {2, 1, 4}, {2, 6, 4}, {5, 6, 4}};
  Matrix P(Shape{4, 8});
  for (int h = 0; h < 4; ++h)
    for (int rank = 0; rank < 3; ++rank) P(h, ranks[h][rank]) = Real(3 - rank);
  const TokenChoice choice = choose_tokens(P, {4, 0.25});
  page.show_matrix("P", P, {"head 0", "head 1", "head 2", "head 3"}, {"0", "1", "2", "3", "4", "5", "6", "7"});
  page.say("   Rank 1 gives 2, 2, 2, 5 and rank 2 then 1. So token 6, on three lists, is left out, and token 5, on one, is in.");
  page.check("picked: 2, 5, 1, and 7 is the latest", choice.picked == std::vector<int>{2, 5, 1} && choice.recent == std::vector<int>{7});
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "30");
  const Var X = page.word_vectors("X");
  const Labels words = page.words(), heads = {"head 0", "head 1"};
  const int n = X.shape().rows;
  std::vector<MultiHeadAttention> layers;
  for (const char* name : {"2", "3"}) layers.emplace_back(page.params, name, X.shape().cols, 2, page.rng);
  page.settle(page.params);

  page.step("The words so far", "K = X W_k   V = X W_v", "layer 2 of some model keeps their keys and values: nothing is computed twice");
  const Var K = layers[0].k(X).named("K"), V = layers[0].v(X).named("V");
  page.show({X, K}, words);

  page.step("The last word asks", "P = q Kᵀ for each head", "head 0 has columns 0 and 1 of q and K, head 1 has 2 and 3. P: how much it likes a word");
  const Heads cut{.heads = 2};
  const Var q = layers[0].q(page.tape.rows(X, n - 1, 1)).named("q"), P = scores_of_heads(q, K, cut);
  page.show({q});
  page.show({P}, heads, words);

  page.step("Which words matter?", "best of head 0, best of head 1, second of head 0, …", "a budget of 4: three words picked in that order, each once, and always the latest");
  LessIsMore less({4, 0.25});
  const Var Y = less(2, q, K, V, cut);
  for (int h = 0; h < 2 && n > 4; ++h) page.say("   " + heads[std::size_t(h)] + " likes  " + listed(page, choose_tokens(P.value().block(h, 0, 1, n), less.budget).picked));
  page.say(n > 4 ? "   picked        " + listed(page, less.chosen.picked) + ", and the latest " + listed(page, less.chosen.recent) : "   There are no more: all are chosen.");
  page.check("so many words are chosen", double(less.chosen.rho().size()), std::min(n, 4));
  page.check("layer 2 itself attends to every word", {{Y.value(), multi_head(q, K, V, cut).value()}});

  page.step("The next layer", "A = softmax(q Kᵀ / √d)", "layer 3, with its own q and K: first as if it saw all words, then the chosen ones");
  const Mask causal = Mask::causal(n, n);
  const Var H = add(X, layers[0](X, {.mask = &causal})), q3 = layers[1].q(page.tape.rows(H, n - 1, 1)), K3 = layers[1].k(H), V3 = layers[1].v(H);
  std::vector<Var> all, few;
  multi_head(q3, K3, V3, {.heads = 2, .weights = &all});
  less(3, q3, K3, V3, {.heads = 2, .weights = &few});
  const Var A = concat_rows(all.data(), 2).named("A"), A_few = concat_rows(few.data(), 2).named("A_few");
  Labels kept;
  for (const int j : less.chosen.rho()) kept.push_back(words[std::size_t(j)]);
  page.show_row_sums(A, heads, words);
  page.show_row_sums(A_few, heads, kept);
  page.label(few[0].named("A_few"), {"head 0"}, kept);
  page.spell(few[0], 0, 0);
  const Matrix recall = attention_recall(A.value(), less.chosen.rho());
  page.show_matrix("recall", recall, heads, {"of A"});
  Matrix divided(A_few.shape());
  for (int h = 0; h < 2; ++h)
    for (int j = 0; j < divided.cols(); ++j) divided(h, j) = A.value()(h, less.chosen.rho()[std::size_t(j)]) / recall(h, 0);
  page.check("A_few = the same weights, divided by the recall", {{A_few.value(), divided}});
  page.check("for the next word, layer 3 refuses the old choice", refused(less, q3, layers[1].k(page.tape.constant(Matrix(Shape{n + 1, q.shape().cols}), "X'"))));

  page.part("Back", "LessIsMore is for writing, not for training. Its sibling, top-k attention, is\n"
            "for both: every query picks its own k keys. Here one head, k = 2, four words.");
  page.step("Top-k attention", "A = softmax(the 2 largest of each row of E)", "the others become −inf, so their weight is 0");
  const Var X4 = page.tape.rows(X, 0, std::min(n, 4)).named("X4"), Y_top = TopK(2)(layers[0].q(X4), layers[0].k(X4), layers[0].v(X4));
  const Var E = page.tape.find("E"), A_top = page.tape.find("A");
  page.show({E, A_top});
  page.backward(Y_top, page.random_seed(Y_top));
  page.step("Through the choice", "dE = A ∘ (dA − rowsum(A ∘ dA))", "0 where a key was not picked: nothing says that it should have been");
  page.show_gradient({A_top, E});
  page.spell_gradient(E, 0, 0);
  page.check("formula for dE", {{E.grad(), by_hand::softmax_backward(A_top.value(), A_top.grad())}});

  page.part("More", "A choice by ranks, and a model that lives with it.");
  page.step("Ranks, not votes", "4 heads, 8 tokens, a budget of 4", "the example of the paper; larger = liked better");
  paper_example(page);

  page.step("A trained model writes", "6 layers: 2 and 4 choose, 3 and 5 read", "notes c→a a→d … among noise, 33 to 40 tokens. It writes c a d …, 8 symbols from 6 texts");
  Rng start(page.seed());
  chain::Model model(start);
  chain::train(model, page.seed() + 1, page);
  const chain::Test test(model, page.seed() + 2);
  Matrix same(Shape{4, 5});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j) same(i, j) = Real(test.agreement({4 << i, 0.25 * j}));
  page.show_matrix("same symbol", same, {"budget 4", "budget 8", "budget 16", "budget 32"}, {"r=0", "r=0.25", "r=0.5", "r=0.75", "r=1"});
  page.check("a budget for every token changes nothing", test.agreement({40, 0.25}), 1);
  page.check("32 of 40 tokens: at least 80 % of the symbols stay", same(3, 0) >= 0.8 && same(3, 1) >= 0.8);
  const Matrix recalls = test.recall({8, 0.25});
  page.show_matrix("recall", recalls, {"one set", "own sets"}, {"layer 2", "layer 3", "layer 4", "layer 5"});
  page.check("layers 2 and 4, which choose: own sets have more", recalls(1, 0) > recalls(0, 0) && recalls(1, 2) > recalls(0, 2));
  page.check("layers 3 and 5, which use it: together one set has more", recalls(0, 1) + recalls(0, 3) > recalls(1, 1) + recalls(1, 3));
  return page.done();
} catch (const std::exception& e) {
  return fail("30", e);
}
