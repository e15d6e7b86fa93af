// Attention without the softmax, or with a changed one: by numbers computed elsewhere, and by what must always hold.
#include "layers/attention/alternatives.h"

#include <cmath>
#include <limits>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"
#include "tests/op_trial.h"
#include "tests/reference_file.h"

using namespace glass;

static const Real kInf = std::numeric_limits<Real>::infinity();

static Matrix queries() { return sines({5, 4}, 1, 3, 1); }
static Matrix keys() { return cosines({5, 4}, 1, 2, -1); }
static Matrix values() { return sines({5, 3}, 1, 1, 2, 0.5); }
static Matrix upstream() { return cosines({5, 3}, 1, 2, 3, 1); }

namespace {
struct Run {
  Tape tape;
  std::vector<Var> weights;
  Var Q, K, V, Y;

  Run(const Variant& variant, const Mask* allowed = nullptr, double times = 1, int head = 0) {
    Matrix q = queries();
    tape.be.scale(q, Real(times), q);
    Q = tape.input(q, "Q"), K = tape.input(keys(), "K"), V = tape.input(values(), "V");
    Y = variant(Q, K, V, {.allowed = allowed, .head = head, .heads = 4, .weights = &weights});
    tape.backward(Y, upstream());
  }
  Mat A() const { return weights[0].value(); }
};

// One of each, with parameters of their own.
struct All {
  ParamStore store;
  Rng rng{1};
  SigmoidAttention sigmoid{store, "", 5, rng};
  LearnedSink sink{store, "", 4, rng};
  OffByOne off_by_one;
  SoftCap soft_cap{2};
  Sparsemax sparsemax;
  Entmax15 entmax;
  std::vector<const Variant*> each{&sigmoid, &sink, &off_by_one, &soft_cap, &sparsemax, &entmax};
  All() { sink.s->set(Matrix{{0.3, -0.5, 1.25, 0}}); }
};
}  // namespace

static void check_number(double got, double want) { CHECK(got == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute)); }

static Matrix row_sums(Mat A) {
  Matrix sums(Shape{1, A.rows});
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) sums(0, i) += A(i, j);
  return sums;
}

static int zeros(Mat A) {
  int n = 0;
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) n += A(i, j) == 0;
  return n;
}

TEST_CASE("alternatives: sigmoid attention to ten digits") {
  All all;
  const Run run(all.sigmoid);
  CHECK(difference(run.Y.value().block(0, 0, 1, 3), Matrix{{0.0862562709, -0.1347852491, 0.0259246392}}) == "");
  CHECK(difference(row_sums(run.A()), Matrix{{0.9928655607, 0.8342330661, 0.9740742576, 0.8997931406, 0.9585909826}}) == "");
  check_number(fingerprint(run.Q.grad()), -0.0615936993265);
  check_number(all.sigmoid.b->grad(0, 0), -0.172120235844);
}

TEST_CASE("alternatives: softmax-off-by-one and a learned sink to ten digits") {
  All all;
  const Run run(all.off_by_one);
  CHECK(difference(run.Y.value().block(0, 0, 1, 3), Matrix{{0.0610460276, -0.1033975559, 0.0250111039}}) == "");
  CHECK(difference(row_sums(run.A()), Matrix{{0.8673523119, 0.8390803989, 0.8671041761, 0.8536218012, 0.8661996890}}) == "");
  const Run learned(all.sink);
  CHECK(difference(learned.Y.value().block(0, 0, 1, 3), Matrix{{0.0583386498, -0.0988118971, 0.0239018670}}) == "");
  Matrix mass = row_sums(learned.A());
  for (int i = 0; i < 5; ++i) mass(0, i) = 1 - mass(0, i);
  CHECK(difference(mass, Matrix{{0.1711145716, 0.2056413119, 0.1714204435, 0.1879639472, 0.1725349569}}) == "");
  CHECK(difference(all.sink.s->grad, Matrix{{0.0594793478701, 0, 0, 0}}) == "");  // head 0 ran, no other
}

TEST_CASE("alternatives: a soft cap to ten digits, and the leak of a cap after the mask") {
  const Mask causal = Mask::causal(5, 5);
  const SoftCap cap(2);
  Run run(cap, &causal);
  CHECK(difference(run.Y.value().block(4, 0, 1, 3), Matrix{{0.1485389721, -0.2051191265, 0.0221803791}}) == "");
  check_number(fingerprint(run.Q.grad()), 0.243149924744);
  CHECK(zeros(run.A()) == 10);

  const Var E = hide_pairs(scaled_scores(run.Q, run.K, 0.5), &causal);
  const Var wrong = softmax(scale(tanh(scale(E, 0.5)), 2));
  check_number(row_sums(wrong.value().block(0, 1, 1, 4))(0, 0), 0.358477546412);
}

TEST_CASE("alternatives: sparsemax and entmax attention to ten digits") {
  const Run sparse(Sparsemax(), nullptr, 4), smooth(Entmax15(), nullptr, 4);  // scores 2 Q Kᵀ
  CHECK(zeros(sparse.A()) == 15);
  CHECK(zeros(smooth.A()) == 14);
  CHECK(difference(sparse.Y.value().block(0, 0, 1, 3), Matrix{{-0.2019457527, -0.0071079144, 0.2078616249}}) == "");
  CHECK(difference(smooth.Y.value().block(0, 0, 1, 3), Matrix{{-0.1394414351, -0.0250172535, 0.1602631369}}) == "");
}

TEST_CASE("alternatives: sparsemax and entmax of one row, forward and backward, to ten digits") {
  Tape tape;
  const Var z = tape.input(Matrix{{1, 0.8, 0.1, -1}}, "z");
  const Matrix dA{{0.3, -0.7, 1.1, 0.5}};
  const Var sparse = sparsemax(z);
  tape.backward(sparse, dA);
  CHECK(difference(sparse.value(), Matrix{{0.6, 0.4, 0, 0}}) == "");
  CHECK(difference(z.grad(), Matrix{{0.5, -0.5, 0, 0}}) == "");
  tape.clear_gradients();
  const Var smooth = entmax15(z);
  tape.backward(smooth, dA);
  CHECK(difference(smooth.value(), Matrix{{0.5292478943, 0.3937490429, 0.0770030628, 0}}) == "");
  CHECK(difference(z.grad(), Matrix{{0.1807051755, -0.4716284772, 0.2909233017, 0}}) == "");
}

TEST_CASE("alternatives: the values and gradients of PyTorch and of the entmax package under a causal mask") {
  const ReferenceFile file("weights.txt");
  const Mask causal = Mask::causal(5, 5);
  All all;
  struct Row {
    const char* name;
    const Variant& variant;
    double times;
  };
  const Row rows[] = {{"sigmoid", all.sigmoid, 1},   {"sink", all.sink, 1},           {"off_by_one", all.off_by_one, 1},
                      {"soft_cap", all.soft_cap, 1}, {"sparsemax", all.sparsemax, 4}, {"entmax15", all.entmax, 4}};
  for (const Row& row : rows) {
    const std::string name = row.name;
    CAPTURE(name);
    Run run(row.variant, &causal, row.times);
    run.tape.be.scale(run.Q.grad(), Real(row.times), run.Q.grad());  // by the query before it was multiplied
    CHECK(difference(run.Y.value(), file[name + ".Y"]) == "");
    CHECK(difference(run.Q.grad(), file[name + ".dQ"]) == "");
    CHECK(difference(run.K.grad(), file[name + ".dK"]) == "");
    CHECK(difference(run.V.grad(), file[name + ".dV"]) == "");
  }
  CHECK(difference(all.sigmoid.b->grad, file["sigmoid.db"]) == "");
  check_number(all.sink.s->grad(0, 0), file["sink.ds"](0, 0));
}

TEST_CASE("alternatives: rows of the entmax package: ordinary, all alike, one far ahead, two alike") {
  const ReferenceFile file("weights.txt");
  for (const bool smooth : {false, true}) {
    const std::string name = smooth ? "rows.entmax15" : "rows.sparsemax";
    Tape tape;
    const Var z = tape.input(file["z"], "z");
    const Var p = smooth ? entmax15(z) : sparsemax(z);
    tape.backward(p, file["dp"]);
    const Tolerance tolerance = kDouble ? kPrinted : Tolerance{1e-4, 1e-4};  // 2000 · cos in a float is known to 1e-4
    CHECK(difference(p.value(), file[name + ".p"], tolerance) == "");
    CHECK(difference(z.grad(), file[name + ".dz"], tolerance) == "");
  }
}

TEST_CASE("alternatives: entmax for any alpha, from softmax to sparsemax, is what the reference of the two ops computes") {
  const ReferenceFile file("weights.txt");
  CHECK(difference(matrix_of(ref_entmax(table_of(Matrix{{1, 0.8, 0.1, -1}}), 1.25)), Matrix{{0.4787184906, 0.3735833335, 0.1355777773, 0.0121203986}}) ==
        "");
  CHECK(difference(matrix_of(ref_entmax(table_of(file["z"]), 1.25)), file["rows.entmax125.p"], kDouble ? kPrinted : Tolerance{1e-3, 1e-3}) == "");
  Tape tape;
  const Matrix x{{1, 0.8, 0.1, -1}, {0.3, 0.2, 0.4, 0.35}};
  const Var E = tape.input(x, "E");
  CHECK(difference(matrix_of(ref_entmax(table_of(x), 1 + 1e-5)), softmax(E).value(), {1e-4, 1e-4}) == "");
  CHECK(difference(matrix_of(ref_entmax(table_of(x), 2)), sparsemax(E).value(), kPrinted) == "");
}

TEST_CASE("alternatives: over masks, batches, heads and lengths") {
  All all;
  for (const Variant* variant : all.each) check_variant(*variant);
}

TEST_CASE("alternatives: the gradients of b and s agree with differences") {
  All all;
  const Mask causal = Mask::causal(5, 5);
  for (const Variant* variant : {all.each[0], all.each[1]}) {
    all.store.zero_grad();
    Run run(*variant, &causal, 1, 2);
    const Var p = run.tape.find(variant == &all.sigmoid ? "b" : "s");
    CHECK(gradient_gap(run.tape, run.Y, upstream(), p).ok());
    CHECK(!all_zero(p.grad()));
  }
  CHECK(all_zero(all.sink.s->grad.view().block(0, 0, 1, 2)));  // head 2 ran, with its own sink
  CHECK(all.sink.s->grad(0, 2) != 0);
}

TEST_CASE("alternatives: which rows sum to 1") {
  All all;
  const Matrix ones{{1, 1, 1, 1, 1}};
  for (const Variant* variant : all.each) {
    CAPTURE(variant->name());
    const Run run(*variant);
    const bool mixture = variant == &all.soft_cap || variant == &all.sparsemax || variant == &all.entmax;
    const Matrix sums = row_sums(run.A());
    CHECK((difference(sums, ones, kRounding) == "") == mixture);
    for (int i = 0; i < 5 && (variant == &all.off_by_one || variant == &all.sink); ++i) CHECK(sums(0, i) < 1);
  }
}

TEST_CASE("alternatives: a number added to all scores changes nothing, except for sigmoid and sinks") {
  const Matrix z{{1, 0.75, 0.125, -1}}, moved{{65, 64.75, 64.125, 63}};
  Tape tape;
  for (Var (*op)(Var, Where) : {sparsemax, entmax15}) {
    const Var a = op(tape.input(z, "z"), {}), b = op(tape.input(moved, "moved"), {});
    CHECK(difference(a.value(), b.value(), kRounding) == "");
  }
}

TEST_CASE("alternatives: off by one is softmax with one more key of score 0 and value 0") {
  Matrix more_keys(Shape{6, 4}), more_values(Shape{6, 3});
  Tape tape;
  tape.be.copy(keys(), more_keys.view().block(1, 0, 5, 4));
  tape.be.copy(values(), more_values.view().block(1, 0, 5, 3));
  const Var Y = plain_attention(tape.input(queries(), "Q"), tape.input(more_keys, "K"), tape.input(more_values, "V"));
  CHECK(difference(Run(OffByOne()).Y.value(), Y.value(), kRounding) == "");
  All all;
  all.sink.s->set(Matrix{{0, 0, 0, 0}});  // where a learned sink starts
  CHECK(difference(Run(all.sink).Y.value(), Y.value(), kRounding) == "");
}

TEST_CASE("alternatives: off by one at a score of 1000 is 1, not inf / inf; far below it is 0") {
  Tape tape;
  tape.watch_nonfinite = false;
  const Var one = tape.input(Matrix{{1}}, "1");
  for (const double score : {1000.0, -1000.0}) {
    const Var Y = OffByOne()(tape.input(Matrix{{score}}, "Q"), one, one);
    CHECK(Y.value()(0, 0) == (score > 0 ? 1 : 0));
  }
}

TEST_CASE("alternatives: with sigmoids no key competes: another key j changes column j of A, and nothing else") {
  All all;
  Matrix k = keys();
  for (int c = 0; c < 4; ++c) k(2, c) = Real(1.5 - k(2, c));
  const Run before(all.sigmoid), plain(plain_attention);
  Tape tape;
  std::vector<Var> after;
  for (const Variant* variant : {static_cast<const Variant*>(&all.sigmoid), static_cast<const Variant*>(&plain_attention)}) {
    (*variant)(tape.input(queries(), "Q"), tape.input(k, "K"), tape.input(values(), "V"), {.weights = &after});
  }
  for (int j = 0; j < 5; ++j) {
    CHECK((bit_difference(after[0].value().block(0, j, 5, 1), before.A().block(0, j, 5, 1)) == "") == (j != 2));
    CHECK(bit_difference(after[1].value().block(0, j, 5, 1), plain.A().block(0, j, 5, 1)) != "");
  }
}

TEST_CASE("alternatives: a cap that is far away changes nothing, and capped scores stay within it") {
  CHECK(difference(Run(SoftCap(1e4)).Y.value(), Run(plain_attention).Y.value(), {1e-6, 1e-6}) == "");
  const SoftCap cap(0.5);
  Run run(cap, nullptr, 100);
  const Mat capped = run.tape.find("E capped").value();
  Real largest = 0;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) largest = std::fmax(largest, std::fabs(capped(i, j)));
  CHECK(largest <= Real(0.5));
  CHECK(largest > Real(0.4));
}

TEST_CASE("alternatives: a row with +inf or NaN gives NaN, and one of -inf zeros") {
  for (Var (*op)(Var, Where) : {sparsemax, entmax15}) {
    Tape tape;
    tape.watch_nonfinite = false;
    const Var e = tape.input(Matrix{{1, kInf, 2}, {1, std::nan(""), 2}, {-kInf, -kInf, -kInf}, {-kInf, 3, -kInf}}, "e");
    const Var A = op(e, {});
    tape.backward(A, Matrix{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
    for (int j = 0; j < 3; ++j) CHECK((std::isnan(A.value()(0, j)) && std::isnan(A.value()(1, j))));
    CHECK(all_zero(A.value().block(2, 0, 1, 3)));
    CHECK(all_zero(e.grad().block(2, 0, 1, 3)));
    CHECK(difference(A.value().block(3, 0, 1, 3), Matrix{{0, 1, 0}}, {0, 0}) == "");
    CHECK(all_zero(e.grad().block(3, 0, 1, 3)));
  }
}

TEST_CASE("alternatives: a replay keeps the support that the data chose") {
  for (Var (*op)(Var, Where) : {sparsemax, entmax15}) {
    Tape tape;
    const Var e = tape.input(Matrix{{1, 0.8, -4}}, "e");
    const Var A = op(e, {});
    tape.set(e, Matrix{{1, 0.8, 0.9}});
    tape.replay();
    CHECK(A.value()(0, 2) == 0);  // recorded again, it would get weight
    CHECK(op(e, {}).value()(0, 2) > 0);
  }
}

TEST_CASE("alternatives: where the parameters start, and what is refused") {
  All all;
  check_number(all.sigmoid.b->value(0, 0), -std::log(5.0));
  ParamStore store;
  Rng rng(1);
  CHECK(all_zero(LearnedSink(store, "_1", 3, rng).s->value));
  CHECK_THROWS_AS(SigmoidAttention(store, "_2", 0, rng), InputError);
  for (const double cap : {0.0, -1.0, std::nan("")}) CHECK_THROWS_AS(SoftCap(cap), InputError);
  CHECK(SoftCap().cap == 50);
  CHECK_THROWS_AS(Run(all.sink, nullptr, 1, 4), ShapeError);
}
