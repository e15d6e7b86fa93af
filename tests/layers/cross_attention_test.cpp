// Cross-attention: by numbers that were computed elsewhere, and by what must hold of two sequences.
#include "layers/attention/cross_attention.h"

#include "engine/gradcheck.h"
#include "layers/attention/multi_head.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static void check_fingerprint(Mat got, double want) {
  CHECK(fingerprint(got) == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute));
}

namespace {
// Three queries of width 4, five keys of width 2.
struct Fixture {
  Tape tape;
  ParamStore store;
  Rng rng{1};
  CrossAttention layer{store, "", 4, 2, 2, 3, rng};
  Matrix dY = cosines({3, 3}, 1, 2, 3, 1);
  Var X, Z, Y;

  explicit Fixture(const Variant& variant, const Mask* mask = nullptr, double junk = 0) {
    layer.variant = &variant;
    layer.q.W->set(cosines({4, 2}, 0.5, 1, 2));
    layer.k.W->set(sines({2, 2}, 0.5, 2, 1, 1));
    layer.v.W->set(cosines({2, 3}, 0.5, 3, -1, 0.5));
    Matrix z = cosines({5, 2}, 1, 1, 2, 0.25);
    z(4, 0) += Real(junk), z(4, 1) -= Real(junk);
    X = tape.input(sines({3, 4}, 1, 3, 1), "X");
    Z = tape.input(z, "Z");
    Y = layer(X, Z, {.allowed = mask});
    tape.backward(Y, dY);
  }
};
}  // namespace

static const Variant* const kForms[] = {&plain_attention, &fused_attention};

TEST_CASE("cross-attention: values and gradients to ten digits, in both forms") {
  for (const Variant* form : kForms) {
    CAPTURE(form->name());
    Fixture f(*form);
    CHECK(difference(f.Y.value(), Matrix{{-0.1732952877, -0.1688036630, -0.0091147290},
                                         {0.1450939987, 0.1260305774, -0.0089047756},
                                         {-0.1658704279, -0.1626505987, -0.0098905592}}) == "");
    check_fingerprint(f.X.grad(), -0.0245090356197);
    check_fingerprint(f.Z.grad(), -0.0145105689901);
    check_fingerprint(f.layer.q.W->grad, -0.0728018480258);
    check_fingerprint(f.layer.k.W->grad, -0.0522279249749);
    check_fingerprint(f.layer.v.W->grad, -0.257731700023);
    for (const char* line : {"X", "Z", "W_q", "W_k", "W_v"})
      CHECK(gradient_gap(f.tape, f.Y, f.dY, f.tape.find(line)).ok());
  }
}

TEST_CASE("cross-attention: what padding of Z holds changes nothing, and gets nothing") {
  const Mask visible = Mask::visible({true, true, true, true, false}, 3);
  for (const Variant* form : kForms) {
    Fixture clean(*form, &visible), junk(*form, &visible, 7);
    CHECK(bit_difference(junk.Y.value(), clean.Y.value()) == "");
    CHECK(bit_difference(junk.X.grad(), clean.X.grad()) == "");
    CHECK(bit_difference(junk.Z.grad().block(0, 0, 4, 2), clean.Z.grad().block(0, 0, 4, 2)) == "");
    CHECK(all_zero(junk.Z.grad().block(4, 0, 1, 2)));
    CHECK(bit_difference(Fixture(*form, nullptr, 7).Y.value(), Fixture(*form).Y.value()) != "");
  }
}

TEST_CASE("cross-attention: queries do not see each other, and the order of Z does not matter") {
  Fixture f(plain_attention);
  const Var X = f.tape.constant(f.X.value(), "X"), last = f.layer(f.tape.rows(X, 2, 1), f.Z);
  CHECK(difference(last.value(), f.Y.value().block(2, 0, 1, 3), kRounding) == "");
  Matrix turned(f.Z.shape());
  for (int j = 0; j < 5; ++j)
    for (int c = 0; c < 2; ++c) turned(j, c) = f.Z.value()(4 - j, c);
  CHECK(difference(f.layer(X, f.tape.constant(turned, "Z")).value(), f.Y.value(), kRounding) == "");
}

TEST_CASE("cross-attention: with Z = X it is self-attention, and X gets both gradients") {
  ParamStore store;
  Rng rng(3);
  const CrossAttention layer(store, "", 3, 3, 2, 4, rng);
  const Matrix x = random_matrix({4, 3}, rng), dY = random_matrix({4, 4}, rng);
  Tape apart, together;
  const Var X = apart.input(x, "X"), Z = apart.input(x, "Z"), both = together.input(x, "X");
  apart.backward(layer(X, Z), dY);
  together.backward(layer(both, both), dY);
  Matrix sum(x.shape());
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < 3; ++c) sum(i, c) = X.grad()(i, c) + Z.grad()(i, c);
  CHECK(difference(both.grad(), sum, kRounding) == "");
}

TEST_CASE("cross-attention: remembered keys and values serve any number of steps, and their gradients add up") {
  Fixture whole(plain_attention);
  Tape tape;
  whole.store.zero_grad();
  const Var X = tape.input(whole.X.value(), "X"), Z = tape.input(whole.Z.value(), "Z");
  const CrossAttention::Memory memory = whole.layer.remember(Z);
  std::vector<Var> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(whole.layer(tape.rows(X, i, 1), memory));
  const Var Y = concat_rows(rows.data(), 3);
  tape.backward(Y, whole.dY);
  CHECK(difference(Y.value(), whole.Y.value(), kRounding) == "");
  CHECK(difference(X.grad(), whole.X.grad(), kRounding) == "");
  CHECK(difference(Z.grad(), whole.Z.grad(), kRounding) == "");
}

TEST_CASE("cross-attention: two layers that read the same Z both send it a gradient") {
  ParamStore store;
  Rng rng(4);
  const CrossAttention first(store, "_1", 3, 2, 2, 3, rng), second(store, "_2", 3, 2, 2, 3, rng);
  const Matrix x = random_matrix({2, 3}, rng), z = random_matrix({4, 2}, rng), dY = random_matrix({2, 3}, rng);
  Tape tape, apart;
  const Var X = tape.input(x, "X"), Z = tape.input(z, "Z"), Y = second(add(X, first(X, Z)), Z);
  tape.backward(Y, dY);
  CHECK(gradient_gap(tape, Y, dY, Z).ok());
  const Var X2 = apart.input(x, "X"), Z1 = apart.input(z, "Z1"), Z2 = apart.input(z, "Z2");
  apart.backward(second(add(X2, first(X2, Z1)), Z2), dY);
  Matrix sum(z.shape());
  for (int j = 0; j < 4; ++j)
    for (int c = 0; c < 2; ++c) sum(j, c) = Z1.grad()(j, c) + Z2.grad()(j, c);
  CHECK(!all_zero(Z1.grad()));
  CHECK(!all_zero(Z2.grad()));
  CHECK(difference(Z.grad(), sum, kRounding) == "");
}

TEST_CASE("cross-attention: names and number of parameters; widths that do not fit are errors") {
  ParamStore store;
  Rng rng(1);
  const CrossAttention layer(store, "_x", 4, 2, 3, 5, rng, Bias::yes);
  CHECK(store.find("W_q_x")->value.shape() == Shape{4, 3});
  CHECK(store.find("W_k_x")->value.shape() == Shape{2, 3});
  CHECK(store.find("W_v_x")->value.shape() == Shape{2, 5});
  CHECK(store.find("b_v_x")->value.shape() == Shape{1, 5});
  CHECK(store.all.size() == 6);
  Tape tape;
  const Var X = tape.input(Matrix(Shape{3, 4}), "X"), Z = tape.input(Matrix(Shape{5, 2}), "Z");
  CHECK_THROWS_AS(layer(X, X), ShapeError);
  CHECK_THROWS_AS(layer(Z, Z), ShapeError);
  const Mask turned(5, 3);
  CHECK_THROWS_AS(layer(X, Z, {.allowed = &turned}), ShapeError);
}
