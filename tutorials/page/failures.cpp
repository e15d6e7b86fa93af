#include "tutorials/page/failures.h"

#include <utility>

#include "engine/health.h"
#include "layers/encoder.h"
#include "layers/optim/adamw.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/recall.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace failures {

void deep(Mat x, Mat dY, bool bare, std::uint64_t seed, Mat table) {
  Rng rng(seed);
  ParamStore params;
  Encoder stack(params, "", table.cols, {.C = x.cols, .heads = 2}, rng);
  Tape tape;
  Var X = tape.input(x, "X");
  for (int l = 0; l < table.cols; ++l) {
    const Scope scope(tape, ("layer " + std::to_string(l)).c_str());
    EncoderBlock& b = stack.blocks[std::size_t(l)];
    X = bare ? b.feed_forward(b.attention(X)) : b(X);
    const Matrix mean = by_hand::scaled(1.0 / x.rows, by_hand::col_sums(X.value()));
    table(1, l) = Real(by_hand::norm(by_hand::add_row(X.value(), by_hand::scaled(-1, mean))) / by_hand::norm(X.value()));
  }
  tape.backward(bare ? X : stack.last[0](X), dY);
  int l = 0;
  for (const LayerGradient& g : layer_gradients(tape))
    if (l < table.cols) table(0, l++) = Real(g.norm);
}

Losses learn(Page& page, bool new_each_time) {
  Rng rng(page.seed()), fresh(page.seed() + 9);
  recall::Model model(rng);
  AdamW adamw(model.params, 0.02);
  std::vector<recall::Question> set, held_out;
  for (int i = 0; i < 200; ++i) held_out.push_back(recall::ask(fresh));
  for (int i = 0; i < 16; ++i) set.push_back(recall::ask(rng));
  Tape tape;
  for (int t = 1; t <= 300; ++t) {
    for (int i = 0; i < 16 && new_each_time; ++i) set[std::size_t(i)] = recall::ask(rng);
    tape.rewind();
    const Var loss = recall::loss_of(tape, model, set);
    model.params.zero_grad();
    tape.backward(loss);
    adamw.step();
    page.progress("learning", t, 300);
  }
  tape.rewind();
  const double seen = double(recall::loss_of(tape, model, set).value()(0, 0));
  return {seen, double(recall::loss_of(tape, model, held_out).value()(0, 0))};
}

double numbers_in_memory(const Variant& variant, int n) {
  Tape tape;
  Rng rng(1);
  Matrix x(Shape{n, 4});
  for (int i = 0; i < n; ++i) x(i, i % 4) = Real(rng.normal());
  const Var X = tape.input(x, "X");
  tape.backward(variant(X, X, X), x);
  return double(tape.peak_bytes()) / sizeof(Real);
}

double heads_apart(Mat x, bool alike, std::uint64_t seed) {
  Rng rng(seed);
  ParamStore params;
  MultiHeadAttention layer(params, "", x.cols, 2, rng);
  for (Param* w : {layer.q.W, layer.k.W, layer.v.W})
    for (int r = 0; alike && r < x.cols; ++r)
      for (int c = 0; c < x.cols / 2; ++c) w->value(r, c + x.cols / 2) = w->value(r, c);
  for (int r = 0; alike && r < x.cols / 2; ++r)
    for (int c = 0; c < x.cols; ++c) layer.o.W->value(r + x.cols / 2, c) = layer.o.W->value(r, c);
  AdamW adamw(params, 0.01);
  Tape tape;
  std::vector<Var> A;
  for (int t = 0; t < 50; ++t) {
    tape.rewind();
    A.clear();
    const Var Y = layer(tape.constant(x, "X"), {.weights = &A});
    params.zero_grad();
    tape.backward(mse(Y, tape.constant(by_hand::scaled(-1, x), "target")));
    adamw.step();
  }
  return by_hand::distance(A[0].value(), A[1].value());
}

}  // namespace failures
}  // namespace GLASS_PRECISION
}  // namespace glass
