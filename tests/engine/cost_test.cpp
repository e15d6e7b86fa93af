// What an op says that it costs, against counting loops; and what must hold for every op of the catalogue.
#include "engine/cost.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/op_trial.h"

using namespace glass;

namespace {

// Of the op that recorded y. Backward: after a sweep.
Cost cost_of(Tape& tape, Var y, Pass pass) {
  const Step s = tape.step(y.id);
  return tape.node(y).rule->cost(s, pass);
}

bool sound(Cost c) { return std::isfinite(c.flops) && std::isfinite(c.bytes) && c.flops >= 0 && c.bytes > 0; }

Sizes tripled(char letter) {
  Sizes s;
  s.of(letter) *= 3;  // an odd number stays odd
  return s;
}

// Forward and backward together, with every input wanting a gradient that may.
Cost whole_cost(const OpCase& c, Sizes sizes) {
  Trial t(c, sizes.shapes(c));
  if (!t.tape.node(t.y).rule) return {};
  Cost sum = cost_of(t.tape, t.y, Pass::forward);
  if (c.constant) return sum;
  t.tape.backward(t.y, t.seed);
  sum += cost_of(t.tape, t.y, Pass::backward);
  return sum;
}

struct Recorded {  // an op of inputs with these shapes, swept
  Tape tape;
  std::vector<Var> x;
  Var y;
  Recorded(std::initializer_list<Shape> shapes, Var (*build)(const Var*), unsigned wanted = ~0u) {
    for (Shape s : shapes) {
      const Matrix m = sines(s, 1, 1, 2);
      x.push_back(wanted >> x.size() & 1 ? tape.input(m, "x") : tape.constant(m, "x"));
    }
    y = build(x.data());
    tape.backward(y, cosines(y.shape(), 1, 1, 2));
  }
  double forward() { return cost_of(tape, y, Pass::forward).flops; }
  double backward() { return cost_of(tape, y, Pass::backward).flops; }
};

bool inside(int at, int n) { return at >= 0 && at < n; }

}  // namespace

TEST_CASE("every op's cost is finite, and it moves something") {
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      Trial t(c);
      if (!t.tape.node(t.y).rule) continue;  // weights_of attention: a field, shown
      CHECK(sound(cost_of(t.tape, t.y, Pass::forward)));
      CHECK(cost_of(t.tape, t.y, Pass::forward).bytes >= double(count(t.y.shape())) * sizeof(Real));
      if (c.constant) continue;
      t.tape.backward(t.y, t.seed);
      CHECK(sound(cost_of(t.tape, t.y, Pass::backward)));
      if (c.op() != "recompute") CHECK(cost_of(t.tape, t.y, Pass::backward).flops > 0);  // its lines inside have theirs
    }
  }
}

TEST_CASE("every op's cost does not fall when a size triples, and is at most nine times as large") {
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      const Cost usual = whole_cost(c, Sizes());
      for (char letter : {'R', 'C', 'K', 'M'}) {
        INFO(letter);
        const Cost more = whole_cost(c, tripled(letter));
        CHECK(more.flops >= usual.flops);
        CHECK(more.bytes >= usual.bytes);
        CHECK(more.flops <= 9.5 * usual.flops);
        CHECK(more.bytes <= 9.5 * usual.bytes);
      }
    }
  }
}

TEST_CASE("every op's way back costs no more for fewer gradients") {
  for (const OpCase& c : op_cases()) {
    if (c.constant) continue;
    DYNAMIC_SECTION(c.name) {
      Trial all(c);
      all.tape.backward(all.y, all.seed);
      const Cost most = cost_of(all.tape, all.y, Pass::backward);
      for (unsigned wanted = 1; wanted < 1u << c.shapes.size(); ++wanted) {
        if (wanted & c.targets) continue;
        Trial t(c, Sizes().shapes(c), wanted);
        t.tape.backward(t.y, t.seed);
        CHECK(cost_of(t.tape, t.y, Pass::backward).flops <= most.flops);
        CHECK(cost_of(t.tape, t.y, Pass::backward).bytes <= most.bytes);
      }
    }
  }
}

TEST_CASE("a product costs two FLOPs for each of its R K C steps, and as much again for each gradient") {
  long steps = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 7; ++k) ++steps;
  Recorded nn({{3, 7}, {7, 5}}, [](const Var* x) { return matmul(x[0], x[1]); });
  Recorded nt({{3, 7}, {5, 7}}, [](const Var* x) { return matmul_nt(x[0], x[1]); });
  Recorded tn({{7, 3}, {7, 5}}, [](const Var* x) { return matmul_tn(x[0], x[1]); });
  for (Recorded* r : {&nn, &nt, &tn}) {
    CHECK(r->forward() == 2.0 * double(steps));
    CHECK(r->backward() == 4.0 * double(steps));
  }
  Recorded half({{3, 7}, {7, 5}}, [](const Var* x) { return matmul(x[0], x[1]); }, 1);
  CHECK(half.backward() == 2.0 * double(steps));
  const auto layer = [](const Var* x) { return linear(x[0], x[1], x[2]); };  // and an addition for each entry, and for each of dY
  Recorded whole({{3, 7}, {7, 5}, {1, 5}}, layer), first({{3, 7}, {7, 5}, {1, 5}}, layer, 1);
  CHECK(whole.forward() == 2.0 * double(steps) + 3 * 5);
  CHECK(whole.backward() == 4.0 * double(steps) + 3 * 5);
  CHECK(first.backward() == 2.0 * double(steps));
  const Cost c = cost_of(nn.tape, nn.y, Pass::forward);
  CHECK(c.bytes == (3 * 7 + 7 * 5 + 3 * 5) * double(sizeof(Real)));
  // dY, both inputs, and both gradients read and written
  CHECK(cost_of(nn.tape, nn.y, Pass::backward).bytes == (3 * 5 + 3 * (3 * 7 + 7 * 5)) * double(sizeof(Real)));
}

TEST_CASE("a convolution costs what its window meets inside the input") {
  for (int left : {0, 1, 3}) {
    long places = 0;
    for (int t = 0; t < 6; ++t)
      for (int k = 0; k < 4; ++k) places += inside(t + k - left, 6);
    Tape tape;
    const Var X = tape.input(sines({6, 3}, 1, 1, 2), "X"), W = tape.input(sines({4 * 3, 5}, 1, 1, 2), "W"), D = tape.input(sines({4, 3}, 1, 1, 2), "D");
    CHECK(cost_of(tape, conv1d(X, W, left), Pass::forward).flops == 2.0 * double(places) * 3 * 5);
    CHECK(cost_of(tape, depthwise_conv1d(X, D, left), Pass::forward).flops == 2.0 * double(places) * 3);
  }
  for (int rows : {2, 6}) {
    long places = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < 4; ++j)
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 5; ++b) places += inside(i - 3 + 1 + a, rows) && inside(j - 2 + b, 4);
    Tape tape;
    const Var y = conv2d_causal(tape.input(sines({rows, 4}, 1, 1, 2), "X"), tape.input(sines({3, 5}, 1, 1, 2), "W"));
    CHECK(cost_of(tape, y, Pass::forward).flops == 2.0 * double(places));
  }
}

TEST_CASE("attention costs two products and a softmax for each pair, backward four products and half of it") {
  const double n = 6, m = 9, d = 4, d_v = 5, pairs = n * m;
  Recorded plain({{6, 4}, {9, 4}, {9, 5}}, [](const Var* x) { return attention(x[0], x[1], x[2], 0.5); });
  CHECK(plain.forward() == pairs * (2 * d + 17 + 2 * d_v));
  CHECK(plain.backward() == pairs * (4 * d + 5 + 4 * d_v));
  Recorded only_V({{6, 4}, {9, 4}, {9, 5}}, [](const Var* x) { return attention(x[0], x[1], x[2], 0.5); }, 4);
  CHECK(only_V.backward() == pairs * 2 * d_v);

  // tile by tile: the scores once more on the way back
  Recorded flash({{6, 4}, {9, 4}, {9, 5}}, [](const Var* x) { return flash_attention(x[0], x[1], x[2], 0.5); });
  CHECK(flash.forward() == plain.forward());
  CHECK(flash.backward() == plain.backward() + pairs * (2 * d + 14));

  long seen = 0, allowed = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 9; ++j) seen += j <= i + 9 - 6, allowed += sees(i, j);
  Recorded causal({{6, 4}, {9, 4}, {9, 5}}, [](const Var* x) { return flash_attention(x[0], x[1], x[2], 0.5, {.causal = true}); });
  CHECK(causal.forward() == double(seen) * (2 * d + 17 + 2 * d_v));
  Recorded masked({{6, 4}, {9, 4}, {9, 5}}, [](const Var* x) {
    const TestMask mask(6, 9);
    return flash_attention(x[0], x[1], x[2], 0.5, {.keep = mask.keep});
  });
  CHECK(masked.forward() == double(allowed) * (2 * d + 17 + 2 * d_v));
  Recorded sparse({{6, 4}, {9, 4}, {9, 5}}, [](const Var* x) {
    const TestPairs list(6, 9);
    return sparse_attention(x[0], x[1], x[2], 0.5, list.pairs);
  });
  CHECK(sparse.forward() == masked.forward());
}

TEST_CASE("an op in small steps costs about what its fused twin does") {
  Tape tape;
  const Var Q = tape.input(sines({32, 8}, 1, 1, 2), "Q"), K = tape.input(sines({32, 8}, 1, 2, 1), "K"), V = tape.input(sines({32, 8}, 1, 3, 1), "V");
  const Var fused = attention(Q, K, V, 0.5);
  const Var E = scale(matmul_nt(Q, K), 0.5), A = softmax(E), Y = matmul(A, V);
  double steps = 0;
  for (int id = fused.id + 1; id <= Y.id; ++id) steps += cost_of(tape, tape.var(id), Pass::forward).flops;
  CHECK(steps == cost_of(tape, fused, Pass::forward).flops);
}

TEST_CASE("rows that are gathered count, not the table") {
  Tape tape;
  const int ids[] = {1, 999, 1};
  const Var table = tape.input(Matrix(Shape{1000, 4}), "table");
  const Var y = gather_rows(table, ids, 3);
  tape.backward(y, sines({3, 4}, 1, 1, 1));
  CHECK(cost_of(tape, y, Pass::forward).bytes == 2 * 12 * double(sizeof(Real)) + 3 * double(sizeof(int)));
  CHECK(cost_of(tape, y, Pass::backward).bytes == 3 * 12 * double(sizeof(Real)) + 3 * double(sizeof(int)));
  CHECK(cost_of(tape, y, Pass::backward).flops == 12);
}

TEST_CASE("a running sum grows with the length, not with its square") {
  const auto flops = [](int n) {
    Tape tape;
    const Var a = tape.input(sines({n, 3}, 1, 1, 2), "a"), b = tape.input(sines({n, 3}, 1, 1, 3), "b"), V = tape.input(sines({n, 4}, 1, 2, 1), "V");
    return cost_of(tape, causal_sums(a, b, V), Pass::forward).flops;
  };
  CHECK(flops(5) == 2.0 * (5 + 5) * 3 * (4 + 1));
  CHECK(flops(10) == 2 * flops(5));
}
