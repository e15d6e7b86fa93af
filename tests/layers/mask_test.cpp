#include "layers/attention/mask.h"

#include "layers/attention/attention.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static std::string rows_of(const Mask& m) {  // "10/11": query by query
  std::string text;
  for (int i = 0; i < m.queries(); ++i) {
    if (i) text += "/";
    for (int j = 0; j < m.keys(); ++j) text += m(i, j) ? "1" : "0";
  }
  return text;
}

TEST_CASE("mask: causal, as many keys as queries") {
  CHECK(rows_of(Mask::causal(1, 1)) == "1");
  CHECK(rows_of(Mask::causal(3, 3)) == "100/110/111");
}

TEST_CASE("mask: causal, more queries than keys, hides everything from the first") {
  CHECK(rows_of(Mask::causal(3, 1)) == "0/0/1");
  CHECK(rows_of(Mask::causal(4, 2)) == "00/00/10/11");
}

TEST_CASE("F01 a causal mask for fewer queries than keys is aligned to the last key") {
  const Mask seen = Mask::causal(2, 5);
  CHECK(rows_of(seen) == "11110/11111");
  Tape tape;
  const Var Q = tape.constant(Matrix(Shape{2, 1}), "Q"), K = tape.constant(Matrix(Shape{5, 1}), "K");
  const Var V = tape.constant(Matrix{{1}, {2}, {3}, {4}, {5}}, "V");
  CHECK(difference(attention_steps(Q, K, V, &seen).value(), Matrix{{2.5}, {3}}) == "");
  CHECK(difference(attention_fused(Q, K, V, &seen).value(), Matrix{{2.5}, {3}}) == "");
}

TEST_CASE("mask: visible hides keys, the same for every query") {
  CHECK(rows_of(Mask::visible({true, true, false}, 2)) == "110/110");
  CHECK(rows_of(Mask::visible({false, false}, 1)) == "00");
}

TEST_CASE("mask: joined masks must both allow it") {
  CHECK(rows_of(Mask::causal(3, 3) & Mask::visible({false, true, true}, 3)) == "000/010/011");
  CHECK(rows_of(Mask(2, 2) & Mask::causal(2, 2)) == "10/11");
  CHECK(rows_of(Mask(2, 2, false) & Mask(2, 2)) == "00/00");
}

TEST_CASE("mask: a pair is set by itself") {
  Mask m(2, 3, false);
  m.set(1, 2, true);
  CHECK(rows_of(m) == "000/001");
  m.set(1, 2, false);
  CHECK(rows_of(m) == "000/000");
  CHECK_THROWS_AS(m.set(2, 0, true), ShapeError);
  CHECK_THROWS_AS(m.set(0, 3, true), ShapeError);
  CHECK_THROWS_AS(m.set(-1, 0, true), ShapeError);
  CHECK_THROWS_AS(m.set(0, -1, true), ShapeError);
}

TEST_CASE("mask: sizes that do not fit are errors") {
  CHECK_THROWS_AS(Mask(2, 3) & Mask(3, 2), ShapeError);
  CHECK_THROWS_AS(Mask(2, 3) & Mask(2, 2), ShapeError);
  CHECK_THROWS_AS(Mask(2, 3) & Mask(1, 3), ShapeError);
  CHECK_THROWS_AS(Mask(-1, 3), ShapeError);

  const Mask turned(3, 2);
  Tape tape;
  const Var Q = tape.constant(Matrix(Shape{2, 1}), "Q"), K = tape.constant(Matrix(Shape{3, 1}), "K");
  CHECK_THROWS_AS(attention_steps(Q, K, K, &turned), ShapeError);
  CHECK_THROWS_AS(attention_fused(Q, K, K, &turned), ShapeError);
}

// All outputs but the last, after the last token got the given row.
static Matrix earlier_outputs(Var (*form)(Var, Var, Var, const Mask*), Matrix x, double last) {
  const int n = x.rows();
  for (int c = 0; c < x.cols(); ++c) x(n - 1, c) += Real(last);
  const Mask seen = Mask::causal(n, n);
  Tape tape;
  const Var X = tape.constant(x, "X");
  return Matrix(form(X, X, X, &seen).value().block(0, 0, n - 1, x.cols()));
}

TEST_CASE("F05 with a causal mask the last token changes no earlier output, not by one bit") {
  Rng rng(5);
  const Matrix x = random_matrix({6, 3}, rng);
  for (auto form : {attention_steps, attention_fused}) {
    const Matrix before = earlier_outputs(form, x, 0);
    CHECK(!all_zero(before));
    CHECK(bit_difference(earlier_outputs(form, x, 3), before) == "");
    CHECK(bit_difference(earlier_outputs(form, x, -1e30), before) == "");
  }
}

TEST_CASE("F05 without a mask the last token changes every output") {
  Rng rng(5);
  const Matrix x = random_matrix({6, 3}, rng);
  Matrix y = x;
  y(5, 0) += 3;
  Tape tape;
  const Var X = tape.constant(x, "X"), Z = tape.constant(y, "Z");
  const Mat before = attention_steps(X, X, X).value(), after = attention_steps(Z, Z, Z).value();
  for (int i = 0; i < 6; ++i) CHECK(bit_difference(after.block(i, 0, 1, 3), before.block(i, 0, 1, 3)) != "");
}

TEST_CASE("mask: a window holds the last w of the keys that a causal mask allows") {
  CHECK(rows_of(Mask::window(3, 3, 1)) == "100/010/001");
  CHECK(rows_of(Mask::window(2, 5, 3)) == "01110/00111");  // the last query meets the last key
  CHECK(rows_of(Mask::window(4, 2, 2)) == "00/00/10/11");
  CHECK(rows_of(Mask::window(4, 4, 4)) == rows_of(Mask::causal(4, 4)));
  CHECK(rows_of(Mask::window(4, 4, 100)) == rows_of(Mask::causal(4, 4)));
  CHECK(rows_of(Mask::window(0, 3, 2)) == "");
  CHECK_THROWS_AS(Mask::window(3, 3, 0), InputError);
}

TEST_CASE("mask: what kind of mask it is") {
  const Mask padding = Mask::visible({true, false, true}, 2), causal = Mask::causal(3, 3);
  const Mask both = causal & Mask::visible({false, true, true}, 3);
  Mask pair(2, 2);
  pair.set(1, 0, false);
  CHECK(Mask(2, 3).hides_nothing());
  CHECK(!padding.hides_nothing());
  CHECK(padding.is_padding());
  CHECK(!causal.is_padding());
  CHECK(causal.is_causal());
  CHECK(both.is_causal());
  CHECK(!both.is_padding());
  CHECK(!pair.is_causal());
  CHECK(!pair.is_padding());
  CHECK(!Mask::window(4, 4, 2).is_causal());
  CHECK(padding.seen() == std::vector<bool>{true, false, true});
  CHECK(both.seen() == std::vector<bool>{false, true, true});
}
