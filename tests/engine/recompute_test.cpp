// Recompute instead of keep: printed numbers, bits, memory, nesting, errors.
#include "engine/recompute.h"

#include <cmath>
#include <deque>

#include "engine/gradcheck.h"
#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {
// x -> tanh(x W) ∘ mask / 0.8
struct Layer {
  Param* W;
  Matrix keep;

  Layer(ParamStore& store, Rng& rng, int l) : W(&store.make("W" + std::to_string(l), {3, 3}, Init::zeros, rng)), keep(Shape{2, 3}) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) W->value(i, j) = Real(0.8 * std::cos((1 + 0.1 * l) * i + 2 * j + 0.3 * l));
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) keep(i, j) = std::sin((5 + l) * i + 7 * j + 0.3) > -0.6 ? Real(1 / 0.8) : Real(0);
  }
  Var operator()(Var x) const { return mul(tanh(matmul(x, x.tape->use(*W))), x.tape->constant(keep, "keep")); }
};

struct Segment final : Recomputable {
  const std::deque<Layer>* layers;
  int from, to;
  long* runs;
  Segment(const std::deque<Layer>& l, int f, int t, long* r) : layers(&l), from(f), to(t), runs(r) {}
  Var run(Tape&, const Var* in) override {
    Var x = in[0];
    for (int l = from; l < to; ++l) x = (*layers)[std::size_t(l)](x), ++*runs;
    return x;
  }
  void parameters(std::vector<Param*>& all) const override {
    for (int l = from; l < to; ++l) all.push_back((*layers)[std::size_t(l)].W);
  }
};

// Nine layers in segments of k; k = 0: no recompute.
struct Run {
  ParamStore store;
  Rng rng{1};
  std::deque<Layer> layers;
  std::deque<Segment> segments;
  Tape tape;
  Var X, Y;
  long runs = 0;

  explicit Run(int k) {
    for (int l = 0; l < 9; ++l) layers.emplace_back(store, rng, l);
    Var x = X = tape.input(sines({2, 3}, 1, 3, 1), "X");
    if (k == 0) x = Segment(layers, 0, 9, &runs).run(tape, &x);
    for (int l = 0; k > 0 && l < 9; l += k) {
      segments.emplace_back(layers, l, std::min(9, l + k), &runs);
      x = recompute(segments.back(), &x, 1);
    }
    Y = x;
    tape.backward(Y, cosines({2, 3}, 1, 2, 3, 1));
  }
};
}  // namespace

TEST_CASE("recompute: nine layers in segments of any length, to ten digits and bit for bit") {
  Run kept(0);
  CHECK(difference(kept.X.grad(), Matrix{{0.3568396291, 0.1311353174, -0.2151342003}, {0, 0, 0}}) == "");
  CHECK(kept.runs == 9);
  for (const int k : {1, 2, 3, 4, 9}) {
    CAPTURE(k);
    Run again(k);
    CHECK(bit_difference(again.Y.value(), kept.Y.value()) == "");
    CHECK(bit_difference(again.X.grad(), kept.X.grad()) == "");
    for (const Param& p : kept.store.all) CHECK(bit_difference(again.store.find(p.name)->grad, p.grad) == "");
    CHECK(again.runs == 18);  // each once forward, once more on the way back
  }
}

TEST_CASE("recompute: parameters add up over sweeps, replay runs the block again, and checks by differences agree") {
  Run once(3), twice(3);
  const Matrix dY = cosines({2, 3}, 1, 2, 3, 1);
  CHECK(gradient_gap(once.tape, once.Y, dY, once.X).ok());
  CHECK(gradient_gap(once.tape, once.Y, dY, once.tape.find("W4")).ok());
  twice.tape.clear_gradients();
  twice.tape.backward(twice.Y, dY);
  Matrix doubled(once.store.find("W4")->grad);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) doubled(i, j) *= 2;
  CHECK(difference(twice.store.find("W4")->grad, doubled, kRounding) == "");
  twice.store.find("W0")->set(sines({3, 3}, 0.5, 1, 2));
  CHECK_THROWS_AS([&] {
    twice.tape.clear_gradients();
    twice.tape.backward(twice.Y, dY);
  }(), TapeError);  // changed after use, as for any parameter
  twice.tape.replay();
  twice.tape.backward(twice.Y, dY);
  CHECK(bit_difference(twice.Y.value(), once.Y.value()) != "");
}

namespace {
struct Nested final : Recomputable {  // a block that recomputes a block
  Segment* inner;
  explicit Nested(Segment* s) : inner(s) {}
  Var run(Tape&, const Var* in) override { return recompute(*inner, in, 1); }
  void parameters(std::vector<Param*>& all) const override { inner->parameters(all); }
};

struct Times final : Recomputable {  // two inputs, no parameters
  Var run(Tape&, const Var* in) override { return matmul(in[0], in[1]); }
  Shape shape(const Var* in) const override { return {in[0].shape().rows, in[1].shape().cols}; }
};

struct Liar final : Recomputable {
  Var run(Tape&, const Var* in) override { return transpose(in[0]); }
};
}  // namespace

TEST_CASE("recompute: blocks inside blocks") {
  ParamStore store;
  Rng rng(1);
  std::deque<Layer> layers;
  for (int l = 0; l < 3; ++l) layers.emplace_back(store, rng, l);
  long runs = 0;
  Segment segment(layers, 0, 3, &runs);
  Nested nested(&segment);
  const Matrix dY = cosines({2, 3}, 1, 2, 3, 1);
  Tape plain, deep;
  const Var x = plain.input(sines({2, 3}, 1, 3, 1), "X"), X = deep.input(sines({2, 3}, 1, 3, 1), "X");
  plain.backward(segment.run(plain, &x), dY);
  const Matrix dW(store.all[1].grad);
  store.zero_grad();
  deep.backward(recompute(nested, &X, 1), dY);
  CHECK(bit_difference(X.grad(), x.grad()) == "");
  CHECK(bit_difference(store.all[1].grad, dW) == "");
}

TEST_CASE("recompute: the same matrix twice, an input that wants no gradient, only parameters that want one") {
  Times times;
  Tape tape;
  const Matrix a = sines({3, 3}, 1, 3, 1), dY = cosines({3, 3}, 1, 2, 3, 1);
  const Var A = tape.input(a, "A"), both[] = {A, A};
  const Var Y = recompute(times, both, 2);
  tape.backward(Y, dY);
  CHECK(gradient_gap(tape, Y, dY, A).ok());
  Tape other;
  const Var mixed[] = {other.constant(a, "A"), other.input(a, "B")};
  other.backward(recompute(times, mixed, 2), dY);
  CHECK(!mixed[0].has_grad());
  CHECK(mixed[1].has_grad());
  ParamStore store;
  Rng rng(1);
  std::deque<Layer> layers;
  layers.emplace_back(store, rng, 0);
  long runs = 0;
  Segment segment(layers, 0, 1, &runs);
  Tape third;
  const Var X = third.constant(sines({2, 3}, 1, 3, 1), "X");
  third.backward(recompute(segment, &X, 1), cosines({2, 3}, 1, 2, 3, 1));
  CHECK(!all_zero(store.all[0].grad));
}

TEST_CASE("recompute: a block that says one shape and makes another is an error; so is one without inputs") {
  Liar liar;
  Tape tape;
  const Var X = tape.input(Matrix(Shape{2, 3}), "X");
  CHECK_THROWS_AS(recompute(liar, &X, 1), ShapeError);
  CHECK_THROWS_AS(recompute(liar, &X, 0), ShapeError);
}
