// Gradients that the first line to give them stores, instead of zeroing them and adding. Memory that was given back reads
// as NaN here, so a gradient that is added to before anything was stored shows.
#include <functional>
#include <vector>

#include "engine/cpu/cpu.h"
#include "engine/ops.h"
#include "engine/params.h"
#include "layers/encoder.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {

struct Poisoned : CpuBackend {
  void* alloc(std::size_t bytes) override {
    void* p = CpuBackend::alloc(bytes);
    poison(p, bytes);
    return p;
  }
};

using Build = std::function<Var(Var a, Var b)>;

// The gradients of a and b, which are 3 x 3 lines that were themselves computed.
std::vector<Matrix> gradients(bool zero_first, const Build& build) {
  static Poisoned be;
  Tape tape(be);
  tape.zero_first = zero_first;
  const Var x = tape.input(sines({3, 3}, 1, 0.7, 1.3), "x");
  const Var a = exp(x), b = exp(scale(x, 0.5));
  const Var y = build(a, b);
  tape.backward(y, sines(y.shape(), 1, 1.1, 0.4));
  std::vector<Matrix> all;
  for (Var v : {a, b, x}) all.push_back(v.has_grad() ? Matrix(v.grad()) : Matrix());
  return all;
}

bool stored(const Build& build) {  // the gradient of `a`, by its first user
  Tape tape;
  tape.zero_first = false;
  const Var x = tape.input(sines({3, 3}, 1, 0.7, 1.3), "x");
  const Var a = exp(x), y = build(a, exp(scale(x, 0.5)));
  tape.backward(y, sines(y.shape(), 1, 1.1, 0.4));
  return tape.node(a).stored_by >= 0;
}

struct Case {
  const char* name;
  bool stored;
  Build build;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"one user", true, [](Var a, Var) { return scale(a, 2); }},
      {"two users", true, [](Var a, Var b) { return add(mul(a, b), scale(a, 3)); }},
      {"a user that adds first", false, [](Var a, Var) { const Var s = scale(a, 2), e = clamp(a, 0.5, 1.5); return add(s, e); }},
      {"a user that adds last", true, [](Var a, Var) { const Var e = clamp(a, 0.5, 1.5), s = scale(a, 2); return add(e, s); }},
      {"softmax, gelu and a norm", true, [](Var a, Var b) { return layer_norm(gelu(softmax(a)), a.tape->constant(Matrix{{1, 2, 3}}, "gain"), a.tape->rows(b, 0, 1)); }},
      {"flash attention", true, [](Var a, Var b) { return flash_attention(a, b, exp(b), 1); }},
      {"flash_attention(a, b, a)", false, [](Var a, Var b) { return flash_attention(a, b, a, 1); }},
      {"log-softmax twice", true, [](Var a, Var) { return add(log_softmax(a), log_softmax(a)); }},
      {"a + a", false, [](Var a, Var) { return add(a, a); }},
      {"a - a", false, [](Var a, Var) { return sub(a, a); }},
      {"a ∘ a", false, [](Var a, Var) { return mul(a, a); }},
      {"a a", false, [](Var a, Var) { return matmul(a, a); }},
      {"aᵀ a", false, [](Var a, Var) { return matmul_tn(a, a); }},
      {"a aᵀ", false, [](Var a, Var) { return matmul_nt(a, a); }},
      {"attention(a, b, a)", false, [](Var a, Var b) { return attention(a, b, a, 1); }},
      {"attention(a, a, b)", false, [](Var a, Var b) { return attention(a, a, b, 1); }},
      {"[a | b | a]", false, [](Var a, Var b) { const Var three[] = {a, b, a}; return concat_cols(three, 3); }},
      {"a and a view of it", false, [](Var a, Var b) { return attention(a, b, a.tape->view(a, 0, 0, 3, 3), 1); }},
      {"a view of it, later a", false, [](Var a, Var) { return add(scale(a, 2), a.tape->view(a, 0, 0, 3, 3)); }},
      {"a part of it only", false, [](Var a, Var b) { return matmul(a.tape->cols(a, 1, 1), b.tape->rows(b, 0, 1)); }},
      {"two parts that overlap", false, [](Var a, Var) { return add(a.tape->cols(a, 0, 2), a.tape->cols(a, 1, 2)); }},
      {"a view of a view", false, [](Var a, Var) { return scale(a.tape->rows(a.tape->cols(a, 0, 2), 1, 2), 2); }},
      {"a, then a line that the root does not need", true, [](Var a, Var) { const Var y = scale(a, 2); exp(a); return y; }},
      {"the root itself", false, [](Var a, Var) { return a; }},
      {"a row of its own", false, [](Var a, Var) { const Var r = a.tape->rows(a, 0, 1); return add_row(r, r); }},
  };
  return all;
}

}  // namespace

TEST_CASE("gradients are the same whether they are zeroed first or not") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const std::vector<Matrix> zeroed = gradients(true, c.build), as_they_are = gradients(false, c.build);
    for (std::size_t i = 0; i < zeroed.size(); ++i) CHECK(difference(as_they_are[i], zeroed[i], kRounding) == "");
    CHECK(stored(c.build) == c.stored);
  }
}

TEST_CASE("a parameter's gradient, and one that is lent, are always added to") {
  Tape tape;
  tape.zero_first = false;
  ParamStore store;
  Rng rng(1);
  Param& p = store.make("p", {2, 2}, Init::ones, rng);
  Matrix lent(Shape{2, 2});
  for (int sweep = 1; sweep <= 3; ++sweep) {
    tape.rewind();
    const Var y = add(scale(tape.use(p), 2), tape.borrow(Matrix{{1, 1}, {1, 1}}, lent, "lent"));
    tape.backward(y, Matrix{{1, 2}, {3, 4}});
    CHECK(p.grad(1, 0) == Real(6 * sweep));
    CHECK(lent(1, 1) == Real(4 * sweep));
  }
}

TEST_CASE("a stack of blocks has the same gradients whether they are zeroed first or not") {
  for (NormPlace place : {NormPlace::pre, NormPlace::post}) {
    for (int every : {0, 1}) {
      std::vector<Matrix> zeroed;
      for (bool zero_first : {true, false}) {
        static Poisoned be;
        ParamStore store;
        Rng rng(3);
        Encoder encoder(store, "", 2, {.C = 8, .heads = 2, .norm = place, .activation = Activation::gelu, .dropout = 0.2}, rng);
        encoder.recompute_every = every;
        Tape tape(be);
        tape.zero_first = zero_first;
        const Var X = tape.input(sines({6, 8}, 1, 0.7, 1.3), "X");
        const Var Y = encoder(X, {.batch = 2});
        tape.backward(Y, sines({6, 8}, 1, 1.1, 0.4));
        std::size_t i = 0;
        if (zero_first) zeroed.emplace_back(X.grad());
        CHECK(difference(X.grad(), zeroed[i++], kRounding) == "");
        for (const Param& p : store.all) {
          if (zero_first) zeroed.push_back(p.grad);
          CHECK(difference(p.grad, zeroed[i++], kRounding) == "");
        }
      }
    }
  }
}

TEST_CASE("a product computes no gradient for a constant") {
  struct Counting : CpuBackend {
    int products = 0;
    void matmul(Product p, Mat a, Mat b, Mat c, bool accumulate) override {
      ++products;
      CpuBackend::matmul(p, a, b, c, accumulate);
    }
  };
  for (bool left : {false, true})
    for (bool right : {false, true}) {
      if (!left && !right) continue;
      Counting be;
      Tape tape(be);
      const Matrix m = sines({3, 3}, 1, 0.7, 1.3);
      const Var a = left ? tape.input(m, "a") : tape.constant(m, "a"), b = right ? tape.input(m, "b") : tape.constant(m, "b");
      for (Var y : {matmul(a, b), matmul_nt(a, b), matmul_tn(a, b)}) {
        be.products = 0;
        tape.clear_gradients();
        tape.backward(y, m);
        CHECK(be.products == int(left) + int(right));
      }
    }
}
