// Theme D, continued: one matrix in two places of a model. Each test is named after its case.
#include "engine/ops.h"
#include "engine/params.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {
// A table of three words that is also the output head: logits = E[tokens] Eᵀ.
struct Tied {
  Rng rng{1};
  ParamStore store;
  Param& E = store.make("E", {3, 2}, Init::zeros, rng);
  Tape tape;

  Tied() { E.set(Matrix{{1, 0}, {0, 1}, {1, -1}}); }
  Var loss(Var X, Var head) {
    const int targets[] = {1, 0};
    return cross_entropy(matmul_nt(X, head), targets, 2);
  }
  Var embed(Var table) {
    const int tokens[] = {0, 2};
    return gather_rows(table, tokens, 2);
  }
};
}  // namespace

TEST_CASE("D07 a table that is both embedding and head takes one step, with the sum of both gradients") {
  for (bool one_line : {true, false}) {  // the parameter may be on the tape once or twice
    CAPTURE(one_line);
    Tied m;
    const Var table = m.tape.use(m.E), head = one_line ? table : m.tape.use(m.E);
    const Var loss = m.loss(m.embed(table), head);
    m.tape.backward(loss);
    CHECK(difference(loss.value(), Matrix{{1.60550351}}) == "");
    CHECK(difference(m.E.grad, Matrix{{0.2632264275, -0.2632264275}, {-0.4047592848, -0.01755951348}, {0.546292142, -0.6878249992}}) == "");

    for (Param& p : m.store.all) {  // gradient descent with rate 0.1; E is one parameter, so it moves once
      cpu_backend().add_scaled(Real(-0.1), p.grad, p.value);
      p.changed();
    }
    CHECK(difference(m.E.value, Matrix{{0.9736773572, 0.02632264275}, {0.04047592848, 1.001755951}, {0.9453707858, -0.9312175001}}) == "");
  }
}

TEST_CASE("D07 without its part as an embedding the table gets the gradient of the head alone") {
  Tied m;
  const Var table = m.tape.use(m.E);
  m.tape.backward(m.loss(detach(m.embed(table)), table));
  CHECK(difference(m.E.grad, Matrix{{-0.1590923707, 0.3702517698}, {-0.4047592848, -0.01755951348}, {0.5638516555, -0.3526922563}}) == "");
}

TEST_CASE("D21 a matrix that stands on both sides of a concatenation gets both gradients") {
  {
    Tape tape;
    const Var x = tape.input(Matrix{{1, 1}}, "x"), twice[] = {x, x};
    tape.backward(concat_cols(twice, 2), Matrix{{1, 2, 10, 20}});
    CHECK(difference(x.grad(), Matrix{{11, 22}}, {0, 0}) == "");
  }
  Tape tape;
  const Var x = tape.input(Matrix{{1, 1}}, "x"), twice[] = {x, x};
  tape.backward(concat_rows(twice, 2), Matrix{{1, 2}, {10, 20}});
  CHECK(difference(x.grad(), Matrix{{11, 22}}, {0, 0}) == "");
}
