#include "tutorials/page/chain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "layers/optim/adamw.h"
#include "layers/optim/clip.h"
#include "layers/optim/schedule.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace chain {

static int draw(Rng& rng, int n) { return int(rng.uniform() * n); }

static std::vector<int> shuffled(int n, Rng& rng) {
  std::vector<int> all(std::size_t(n), 0);
  std::iota(all.begin(), all.end(), 0);
  for (int i = 0; i < n; ++i) std::swap(all[std::size_t(i)], all[std::size_t(i + draw(rng, n - i))]);
  return all;
}

Notes take_notes(int noise, Rng& rng) {
  Notes notes{Matrix(Shape{kSymbols + noise, kWidth}), shuffled(kSymbols, rng)};
  const std::vector<int> place = shuffled(kSymbols + noise, rng);
  for (int i = 0; i < kSymbols + noise; ++i) {
    const bool note = i < kSymbols;
    const int value = note ? notes.next[std::size_t(i)] : draw(rng, kSymbols);
    if (note) notes.X(place[std::size_t(i)], i) = 1;
    notes.X(place[std::size_t(i)], kSymbols + value) = 1;
  }
  return notes;
}

Matrix question(int symbol) {
  Matrix x(Shape{1, kWidth});
  x(0, symbol) = 1;
  return x;
}

Model::Model(Rng& rng) : out(params, "_out", kWidth, kSymbols, rng) {
  for (int l = 0; l < kLayers; ++l) {
    layers.emplace_back(params, std::to_string(l), kWidth, kHeads, rng);
    layers.back().variant = &fused_attention;
    Param& W_o = *layers.back().o.W;  // starts small, so that a layer first adds little and six of them can learn
    cpu_backend().scale(W_o.value, Real(0.2), W_o.value);
    W_o.changed();
  }
}

Var Model::logits(Var X) const {
  const Mask causal = Mask::causal(X.shape().rows, X.shape().rows);
  for (const MultiHeadAttention& layer : layers) X = add(X, layer(X, {.mask = &causal}));
  return out(X);
}

Var loss_of(Tape& tape, const Model& model, int noise, Rng& rng) {
  const Notes notes = take_notes(noise, rng);
  const int n = notes.X.rows();
  Matrix X(Shape{n + kSymbols, kWidth});
  tape.be.copy(notes.X, X.view().block(0, 0, n, kWidth));
  std::vector<int> answers;
  for (const int symbol : shuffled(kSymbols, rng)) {
    X(n + int(answers.size()), symbol) = 1;
    answers.push_back(notes.next[std::size_t(symbol)]);
  }
  const Var logits = model.logits(tape.constant(X, "X"));
  return cross_entropy(tape.rows(logits, n, kSymbols), answers.data(), kSymbols);
}

static void put(Mat rows, Matrix& into, int at) {
  cpu_backend().copy(rows, into.view().block(at, 0, rows.rows, rows.cols));
}

Writer::Writer(const Model& model, Mat notes, int steps) : model_(model), t_(notes.rows) {
  Tape tape;
  Var X = tape.constant(notes, "X");
  const Mask causal = Mask::causal(t_, t_);
  for (const MultiHeadAttention& layer : model.layers) {
    for (std::vector<Matrix>* cache : {&K_, &V_}) cache->emplace_back(Shape{t_ + steps, kWidth});
    put(layer.k(X).value(), K_.back(), 0);
    put(layer.v(X).value(), V_.back(), 0);
    X = add(X, layer(X, {.mask = &causal}));
  }
}

Matrix Writer::step(int symbol, LessIsMore* sparse, std::vector<Matrix>* A) {
  LessIsMore everything({1}, kLayers, kLayers);  // no layer chooses
  Tape tape;
  Var X = tape.constant(question(symbol), "X");
  ++t_;
  for (int l = 0; l < kLayers; ++l) {
    const MultiHeadAttention& layer = model_.layers[std::size_t(l)];
    Matrix &K = K_[std::size_t(l)], &V = V_[std::size_t(l)];
    const Var q = layer.q(X);
    put(layer.k(X).value(), K, t_ - 1);
    put(layer.v(X).value(), V, t_ - 1);
    std::vector<Var> weights;
    Heads cut{.heads = kHeads};
    if (A) cut.weights = &weights;
    const Var k = tape.constant(K.view().block(0, 0, t_, kWidth), "K"),
              v = tape.constant(V.view().block(0, 0, t_, kWidth), "V");
    X = add(X, layer.o((sparse ? *sparse : everything)(l, q, k, v, cut)));
    if (A) A->emplace_back(concat_rows(weights.data(), kHeads).value());
  }
  return Matrix(model_.out(X).value());
}

void train(Model& model, std::uint64_t seed, const Page& page) {
  constexpr int kUpdates = 400, kBatch = 2, kFewNoise = 4;
  const WarmupCosine schedule{0.02, 20, kUpdates};
  AdamW adamw(model.params, 0);
  Rng rng(seed);
  Tape tape;
  for (int t = 1; t <= kUpdates; ++t) {
    model.params.zero_grad();
    for (int i = 0; i < kBatch; ++i) {
      tape.rewind();
      tape.backward(loss_of(tape, model, kFewNoise, rng), Matrix{{1.0 / kBatch}});
    }
    clip_by_norm(model.params, 1);
    adamw.rate = schedule(t);
    adamw.step();
    page.progress("training six layers", t, kUpdates);
  }
}

static int best(Mat logits) {
  return int(std::max_element(logits.row(0), logits.row(0) + logits.cols) - logits.row(0));
}

Test::Test(const Model& model, std::uint64_t seed) {
  Rng rng(seed);
  for (int i = 0; i < kTexts; ++i) {
    const Notes notes = take_notes(kNoise, rng);
    texts_.push_back({notes, Writer(model, notes.X, kSteps), {0}});
    Writer writer = texts_.back().start;
    for (int s = 0; s < kSteps; ++s) texts_.back().symbols.push_back(best(writer.step(texts_.back().symbols.back())));
  }
}

double Test::right() const {
  int right = 0;
  for (const Text& t : texts_)
    for (std::size_t s = 0; s < kSteps; ++s) right += t.symbols[s + 1] == t.notes.next[std::size_t(t.symbols[s])];
  return double(right) / (kTexts * kSteps);
}

double Test::agreement(const TokenBudget& budget) const {
  int same = 0;
  for (const Text& t : texts_) {
    Writer writer = t.start;
    LessIsMore less(budget, kFirst, kMiddle);
    for (std::size_t s = 0; s < kSteps; ++s) same += best(writer.step(t.symbols[s], &less)) == t.symbols[s + 1];
  }
  return double(same) / (kTexts * kSteps);
}

Matrix Test::recall(const TokenBudget& budget) const {
  Matrix mean(Shape{2, kLayers - kFirst});
  for (const Text& t : texts_) {
    Writer writer = t.start;
    for (std::size_t s = 0; s < kSteps; ++s) {
      std::vector<Matrix> A;
      writer.step(t.symbols[s], nullptr, &A);
      for (int l = kFirst; l < kLayers; ++l) {
        const Mat chooser = A[std::size_t(l < kMiddle ? kFirst : kMiddle)], reader = A[std::size_t(l)];
        const Matrix together = attention_recall(reader, choose_tokens(chooser, budget).rho());
        for (int h = 0; h < kHeads; ++h) {
          const std::vector<int> own = choose_tokens(chooser.block(h, 0, 1, chooser.cols), {budget.tokens, 0}).rho();
          mean(0, l - kFirst) += together(h, 0) / (kTexts * kSteps * kHeads);
          mean(1, l - kFirst) +=
              attention_recall(reader.block(h, 0, 1, reader.cols), own)(0, 0) / (kTexts * kSteps * kHeads);
        }
      }
    }
  }
  return mean;
}

}  // namespace chain
}  // namespace GLASS_PRECISION
}  // namespace glass
