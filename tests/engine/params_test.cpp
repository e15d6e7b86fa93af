// Where parameters lie: side by side in blocks that never move.
#include "engine/params.h"

#include <cmath>

#include "engine/backend.h"
#include "engine/cpu/fast.h"
#include "engine/ops.h"
#include "layers/optim/adamw.h"
#include "layers/optim/clip.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static std::ptrdiff_t used_of(const ParamStore& store, bool matrices) {
  std::ptrdiff_t n = 0;
  for (const ParamBlock& b : store.blocks)
    if (b.matrices == matrices) n += count(b.value().shape());
  return n;
}

TEST_CASE("parameters: matrices lie side by side, rows apart from them, each on a line of 64 bytes") {
  Rng rng(1);
  ParamStore store;
  const Param& W = store.make("W", {3, 5}, Init::normal, rng);
  const Param& b = store.make("b", {1, 5}, Init::normal, rng);
  const Param& U = store.make("U", {2, 7}, Init::normal, rng);
  const Param& c = store.make("c", {1, 1}, Init::normal, rng);
  const int line = 64 / int(sizeof(Real));
  CHECK(U.value.view().data - W.value.view().data == 16);  // 15 numbers
  CHECK(c.value.view().data - b.value.view().data == line);
  CHECK(U.grad.view().data - W.grad.view().data == 16);
  REQUIRE(store.blocks.size() == 2);
  CHECK((store.blocks[0].matrices && !store.blocks[1].matrices));
  CHECK(store.blocks[0].value().data == W.value.view().data);
  CHECK(used_of(store, true) == 32);
  CHECK(used_of(store, false) == 2 * line);
}

TEST_CASE("parameters: memory and references stay where they are, however many come later") {
  Rng rng(1);
  ParamStore store;
  Param& first = store.make("first", {2, 3}, Init::normal, rng);
  const Real* where = first.value.view().data;
  const Matrix start = first.value;
  Tape tape;
  const Var y = sum(tape.use(first));
  for (int i = 0; i < 300; ++i) {
    Param& p = store.make("p" + std::to_string(i), {i % 7, 1 + i % 50}, Init::ones, rng);
    p.grad.home()->fill(p.grad, Real(i + 1));
  }
  store.make("large", {1000, 300}, Init::zeros, rng);
  CHECK(first.value.view().data == where);
  CHECK(bit_difference(first.value, start) == "");
  for (int i = 0; i < 300; ++i) {  // none lies on another
    const Param& p = *store.find("p" + std::to_string(i));
    for (int r = 0; r < p.value.rows(); ++r)
      for (int c = 0; c < p.value.cols(); ++c) CHECK((p.value(r, c) == 1 && p.grad(r, c) == Real(i + 1)));
  }
  tape.backward(y);
  CHECK(difference(first.grad, Matrix{{1, 1, 1}, {1, 1, 1}}) == "");
  store.zero_grad();
  for (const Param& p : store.all) CHECK(all_zero(p.grad));
  CHECK(used_of(store, true) + used_of(store, false) < 400000);
  CHECK(store.blocks.size() < 20);
}

TEST_CASE("parameters: a copy is a matrix of its own, and a store that moves takes its memory along") {
  Rng rng(1);
  ParamStore store;
  Param& W = store.make("W", {2, 2}, Init::ones, rng);
  const Matrix kept = W.value;
  Matrix assigned;
  assigned = W.value;
  store.blocks[0].values.home()->fill(W.value, 5);
  CHECK(difference(kept, Matrix{{1, 1}, {1, 1}}) == "");
  CHECK(difference(assigned, Matrix{{1, 1}, {1, 1}}) == "");
  const ParamStore moved = std::move(store);
  CHECK(difference(moved.all[0].value, Matrix{{5, 5}, {5, 5}}) == "");
  CHECK(&moved.all[0] == &W);
}

// By the book, one parameter after the other, in double.
static void adamw_by_hand(Param& p, const Matrix& g, Matrix& m, Matrix& v, int t) {
  const double keep = p.value.rows() > 1 ? 1 - 0.1 * 0.2 : 1;
  for (int i = 0; i < g.rows(); ++i)
    for (int j = 0; j < g.cols(); ++j) {
      m(i, j) = Real(0.9 * m(i, j) + 0.1 * g(i, j));
      v(i, j) = Real(0.999 * v(i, j) + 0.001 * g(i, j) * g(i, j));
      const double m_hat = m(i, j) / (1 - std::pow(0.9, t)), v_hat = v(i, j) / (1 - std::pow(0.999, t));
      p.value(i, j) = Real(keep * p.value(i, j) - 0.1 * m_hat / (std::sqrt(v_hat) + 1e-8));
    }
}

TEST_CASE("parameters: AdamW and clipping over blocks are AdamW and clipping one by one, plain and fast") {
  for (Backend* be : {&cpu_backend(), &fast_cpu()}) {
    Rng rng(2);
    ParamStore store(be), other;
    for (int i = 0; i < 60; ++i) {
      const Shape s{i % 3 == 0 ? 1 : 1 + i % 9, 1 + 5 * i % 61};
      const Param& p = store.make(std::to_string(i), s, Init::normal, rng);
      other.make(p.name, s, Init::zeros, rng).set(p.value);
    }
    AdamW adam(store, 0.1, 0.2);
    CHECK(adam.m.size() == 60);
    std::vector<Matrix> m, v;
    for (const Param& p : store.all) m.emplace_back(p.value.shape()), v.emplace_back(p.value.shape());
    for (int t = 1; t <= 3; ++t) {
      double squares = 0;
      for (Param& p : store.all) {
        const Matrix g = random_matrix(p.grad.shape(), rng);
        be->from_host(g, p.grad);
        for (int i = 0; i < g.rows(); ++i)
          for (int j = 0; j < g.cols(); ++j) squares += double(g(i, j)) * double(g(i, j));
      }
      CHECK(clip_by_norm(store, 2) == Approx(std::sqrt(squares)).epsilon(kDouble ? 1e-13 : 1e-6));
      for (std::size_t k = 0; k < m.size(); ++k) adamw_by_hand(other.all[k], store.all[k].grad, m[k], v[k], t);
      adam.step();
    }
    const Tolerance close = kDouble ? Tolerance{1e-12, 1e-12} : Tolerance{1e-5, 3e-6};
    for (std::size_t k = 0; k < m.size(); ++k) {
      INFO("parameter " << k);
      CHECK(difference(store.all[k].value, other.all[k].value, close) == "");
      CHECK(difference(adam.m[k], m[k], close) == "");
      CHECK(store.all[k].version == 3);
    }
  }
}
