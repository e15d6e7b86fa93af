// tutorials/04_linear.cpp: Y = X W + b, its three gradients, how to start W, and why an embedding is a linear layer.
// Read first: 02_tape.   Next: 05_softmax.   The layers: layers/linear.h, layers/embedding.h
#include <algorithm>
#include <cmath>

#include "layers/embedding.h"
#include "layers/linear.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// The spread (root mean square) of the numbers after `depth` linear layers of width C; it is 1 at the start.
static double spread_after(int depth, int C, Init init, Rng& rng) {
  Matrix Y(Shape{32, C});
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < C; ++j) Y(i, j) = Real(rng.normal());
  for (int layer = 0; layer < depth; ++layer) {
    ParamStore store;
    Y = by_hand::product(Y, store.make("W", {C, C}, init, rng).value);
  }
  return by_hand::norm(Y) / std::sqrt(32.0 * C);
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "04");
  Tape& tape = page.tape;
  const Labels words = page.words();
  Labels vocabulary;       // each word once
  std::vector<int> ids;    // the text as numbers
  for (const std::string& w : words) {
    const auto known = std::find(vocabulary.begin(), vocabulary.end(), w);
    ids.push_back(int(known - vocabulary.begin()));
    if (known == vocabulary.end()) vocabulary.push_back(w);
  }
  const int n = int(words.size()), V = int(vocabulary.size()), C = page.options.dim, out = page.shape_of("W", {C, 3}).cols;
  Embedding embedding(page.params, "table", V, C, page.rng);
  for (int v = 0; v < V; ++v) tape.be.copy(page.word_vector(vocabulary[v], C), embedding.table->value.view().block(v, 0, 1, C));
  Linear linear(page.params, "", C, out, page.rng);
  for (int j = 0; j < out; ++j) linear.b->value(0, j) = Real(0.5 * (j + 1));  // zero is usual; this one can be seen
  page.settle(page.params);
  const Var table = tape.use(*embedding.table), W = tape.use(*linear.W), b = tape.use(*linear.b);

  page.step("Words as rows", "X_i = row ids_i of the table", "an embedding: one learned row per word of the vocabulary");
  const Var X = gather_rows(table, ids.data(), n).named("X");
  page.show({table}, vocabulary);
  page.show({X}, words);

  page.step("The linear layer", "Y = X W + b", "each row of X is handled alone; b (usually 0 at first) is added to each");
  const Var XW = matmul(X, W).named("XW"), Y = add_row(XW, b).named("Y");
  page.show({W});
  page.show({b});
  page.show({Y}, words);
  page.label(XW, words);
  page.spell(XW, 0, 0);
  page.spell(Y, 0, 0);
  page.check("formula for Y", {{Y.value(), by_hand::add_row(by_hand::product(X.value(), W.value()), b.value())}});

  page.step("How to start W", "uniform in ±√(6 / (in + out))   (Xavier)", "wide enough to be alive, narrow enough not to explode");
  Rng rng(page.options.seed);
  const double wild = spread_after(6, 64, Init::normal, rng), xavier = spread_after(6, 64, Init::xavier, rng);
  page.say("   Spread = root mean square. 6 layers of width 64, fed with numbers of spread 1, give numbers of spread " +
           page.measured(wild) + " if the weights have spread 1 (each layer multiplies by about √64 = 8), and " + page.measured(xavier) +
           " if they are Xavier's.");
  page.check("spread 1 explodes, Xavier keeps the size", wild > 1e4 && xavier > 0.3 && xavier < 3);

  page.part("Back", "And back. L depends on Y through dY; what does it say about W, b and X?\n"
            "(ok: nudging every number a little gives the same gradient.)");
  page.step("Given", "dY = dL/dY", "from the next layer; here random numbers");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y});

  page.step("Three formulas", "dW = Xᵀ dY   db = column sums of dY   dX = dY Wᵀ",
            "a gradient has the shape of its value: in this order the shapes fit");
  page.show_gradient({W});
  page.show_gradient({b});
  page.show_gradient({X});
  page.spell_gradient(W, 0, 0);
  page.check("formulas for dW, db, dX", {{W.grad(), by_hand::product_tn(X.value(), dY)}, {b.grad(), by_hand::col_sums(dY)},
                            {X.grad(), by_hand::product_nt(dY, W.value())}});

  page.step("Into the table", "row of a word = the SUM over all its places in the text");
  page.show_gradient({table});
  Matrix summed(table.shape());
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < C; ++c) summed(ids[i], c) += X.grad()(i, c);
  page.check("a repeated word's gradients add up", {{table.grad(), summed}});

  // The same as a linear layer on one-hot rows: word number k becomes 0 .. 0 1 0 .. 0 with the 1 in column k.
  Matrix onehot(Shape{n, V});
  for (int i = 0; i < n; ++i) onehot(i, ids[i]) = 1;
  Tape other;
  const Var T = other.input(table.value(), "table"), X2 = matmul(other.constant(onehot, "onehot"), T);
  other.backward(X2, X.grad());
  page.check("an embedding IS a linear layer on one-hot rows: X, dtable", {{X2.value(), X.value()}, {T.grad(), table.grad()}}, 1e-15);

  page.params.zero_grad();
  Tape whole;
  const Var Y2 = linear(embedding(whole, ids));
  whole.backward(Y2, dY);
  page.check("the layers Embedding and Linear: Y, dtable, dW, db", {{Y2.value(), Y.value()}, {embedding.table->grad, summed},
             {linear.W->grad, by_hand::product_tn(X.value(), dY)}, {linear.b->grad, by_hand::col_sums(dY)}});
  return page.done();
} catch (const std::exception& e) {
  return fail("04", e);
}
