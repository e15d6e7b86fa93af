// Attention with masks: by numbers that were computed elsewhere, in steps against in one line, and by differences.
#include "layers/attention/attention.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

typedef Var (*Form)(Var, Var, Var, const Mask*);
static const Form kForms[] = {attention_steps, attention_fused};

namespace {
// One run, forward and backward.
struct Run {
  Tape tape;
  Var Q, K, V, Y;

  Run(Form form, const Matrix& q, const Matrix& k, const Matrix& v, const Mask* mask, const Matrix& dY) {
    Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    Y = form(Q, K, V, mask);
    tape.backward(Y, dY);
  }
};
}  // namespace

// Five tokens, queries of width 4, values of width 3.
static const Matrix kQ = sines({5, 4}, 1, 3, 1), kK = cosines({5, 4}, 1, 2, -1), kV = sines({5, 3}, 1, 1, 2, 0.5);
static const Matrix kG = cosines({5, 3}, 1, 2, 3, 1);

static void check_fingerprint(Var x, double want) {
  CHECK(fingerprint(x.grad()) == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute));
}

TEST_CASE("attention: a causal mask, to ten digits") {
  const Mask causal = Mask::causal(5, 5);
  const Matrix A{{1.0000000000, 0, 0, 0, 0},
                 {0.7296221077, 0.2703778923, 0, 0, 0},
                 {0.1848222283, 0.6221061799, 0.1930715918, 0, 0},
                 {0.3167589274, 0.0773010084, 0.2265784894, 0.3793615748, 0},
                 {0.0780384249, 0.3784648264, 0.1450281495, 0.0664425865, 0.3320260128}};
  for (Form form : kForms) {
    const Run run(form, kQ, kK, kV, &causal, kG);
    CHECK(difference(run.Y.value(), Matrix{{0.4794255386, 0.5984721441, -0.9775301177},
                                           {0.6195000640, 0.3418144774, -0.9039900910},
                                           {0.8247042614, -0.2963467544, -0.5780567327},
                                           {0.2314969244, -0.3266866892, 0.0404023401},
                                           {0.1538533161, -0.2032771662, 0.0153329832}}) == "");
    check_fingerprint(run.Q, 0.262409645064);
    check_fingerprint(run.K, -0.0232085624017);
    check_fingerprint(run.V, 0.319671567442);
  }
  Run steps(attention_steps, kQ, kK, kV, &causal, kG), fused(attention_fused, kQ, kK, kV, &causal, kG);
  CHECK(difference(steps.tape.find("A").value(), A) == "");
  CHECK(difference(weights_of(fused.Y).value(), A) == "");
  for (int i = 0; i < 5; ++i) {  // exactly 0 where a pair is hidden, also on the way back
    for (int j = i + 1; j < 5; ++j) {
      CHECK(steps.tape.find("A").value()(i, j) == 0);
      CHECK(steps.tape.find("E").grad()(i, j) == 0);
    }
  }
}

TEST_CASE("attention: keys that are padding, to ten digits") {
  const Mask padding = Mask::visible({true, true, true, false, false}, 5);
  for (Form form : kForms) {
    const Run run(form, kQ, kK, kV, &padding, kG);
    CHECK(difference(run.Y.value(), Matrix{{0.7947008350, -0.1936045800, -0.6335649679},
                                           {0.6093362903, -0.2958862564, -0.3630720311},
                                           {0.8247042614, -0.2963467544, -0.5780567327},
                                           {0.5874122311, -0.0951146397, -0.5082489183},
                                           {0.8340806278, -0.3787411159, -0.5188567933}}) == "");
    CHECK(all_zero(run.K.grad().block(3, 0, 2, 4)));
    CHECK(all_zero(run.V.grad().block(3, 0, 2, 3)));
  }
}

TEST_CASE("attention: causal and padded on the left, to ten digits; queries that see nothing are zero rows") {
  const Mask both = Mask::causal(5, 5) & Mask::visible({false, false, true, true, true}, 5);
  for (Form form : kForms) {
    const Run run(form, kQ, kK, kV, &both, kG);
    CHECK(difference(run.Y.value(), Matrix{{0, 0, 0},
                                           {0, 0, 0},
                                           {0.5984721441, -0.9775301177, 0.2151199881},
                                           {0.0041707701, -0.8072451638, 0.6676942724},
                                           {-0.4803654581, -0.2156809153, 0.6598753193}}) == "");
    CHECK(all_zero(run.Y.value().block(0, 0, 2, 3)));
    CHECK(all_zero(run.Q.grad().block(0, 0, 2, 4)));
    CHECK(!all_zero(run.Q.grad()));
  }
}

static const char* const kMasks[] = {"none", "causal", "padding", "causal and left padding", "random"};

static Mask make_mask(const std::string& kind, int n, int m, Rng& rng) {
  std::vector<bool> keys(std::size_t(m), true);
  if (kind == "causal") return Mask::causal(n, m);
  if (kind == "padding") {
    keys.back() = false;  // with one key: nothing is left to see
    return Mask::visible(keys, n);
  }
  if (kind == "causal and left padding") {
    keys.front() = false;
    return Mask::causal(n, m) & Mask::visible(keys, n);
  }
  Mask mask(n, m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) mask.set(i, j, rng.uniform() < 0.5);
  return mask;
}

TEST_CASE("attention: in steps and in one line agree, and each agrees with differences") {
  Rng rng(7);
  const int d = 3, d_v = 2;
  for (const char* kind : kMasks) {
    for (int n : {1, 2, 3, 7}) {
      for (int m : {1, 2, 3, 7}) {
        CAPTURE(kind, n, m);
        const Mask mask = make_mask(kind, n, m, rng);
        const Mask* hide = std::string(kind) == "none" ? nullptr : &mask;
        const Matrix q = random_matrix({n, d}, rng), k = random_matrix({m, d}, rng), v = random_matrix({m, d_v}, rng);
        const Matrix dY = random_matrix({n, d_v}, rng);
        Run steps(attention_steps, q, k, v, hide, dY), fused(attention_fused, q, k, v, hide, dY);
        CHECK(difference(fused.Y.value(), steps.Y.value(), kRounding) == "");
        CHECK(difference(fused.Q.grad(), steps.Q.grad(), kRounding) == "");
        CHECK(difference(fused.K.grad(), steps.K.grad(), kRounding) == "");
        CHECK(difference(fused.V.grad(), steps.V.grad(), kRounding) == "");
        CHECK(difference(weights_of(fused.Y).value(), steps.tape.find("A").value(), kRounding) == "");
        for (Run* run : {&steps, &fused}) {
          for (Var x : {run->Q, run->K, run->V}) CHECK(gradient_gap(run->tape, run->Y, dY, x).ok());
        }
      }
    }
  }
}

TEST_CASE("attention: one matrix as queries, keys, values and residual gets four gradients, added up") {
  Rng rng(8);
  const Matrix x = random_matrix({4, 3}, rng), dY = random_matrix({4, 3}, rng);
  const Mask causal = Mask::causal(4, 4);
  for (const Mask* mask : {static_cast<const Mask*>(nullptr), &causal}) {
    const Run apart(attention_steps, x, x, x, mask, dY);
    Matrix want(x);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 3; ++j)
        want(i, j) = dY(i, j) + apart.Q.grad()(i, j) + apart.K.grad()(i, j) + apart.V.grad()(i, j);
    for (Form form : kForms) {
      Tape tape;
      const Var X = tape.input(x, "X");
      tape.backward(add(form(X, X, X, mask), X), dY);
      CHECK(difference(X.grad(), want, kRounding) == "");
    }
  }
}

TEST_CASE("attention: no keys at all give rows of zeros, no queries give no rows") {
  for (Form form : kForms) {
    const Run no_keys(form, Matrix{{1, 2}, {3, 4}}, Matrix(Shape{0, 2}), Matrix(Shape{0, 3}), nullptr,
                      Matrix(Shape{2, 3}));
    CHECK(no_keys.Y.shape() == Shape{2, 3});
    CHECK(all_zero(no_keys.Y.value()));
    CHECK(all_zero(no_keys.Q.grad()));
    const Run no_queries(form, Matrix(Shape{0, 2}), Matrix{{1, 2}}, Matrix{{3, 4, 5}}, nullptr, Matrix(Shape{0, 3}));
    CHECK(no_queries.Y.shape() == Shape{0, 3});
    CHECK(all_zero(no_queries.V.grad()));
  }
}

TEST_CASE("attention: shapes that do not fit are errors, in both forms") {
  Tape tape;
  const Var Q = tape.input(Matrix(Shape{2, 4}), "Q"), K = tape.input(Matrix(Shape{3, 4}), "K");
  const Var narrow = tape.input(Matrix(Shape{3, 3}), "narrow"), V = tape.input(Matrix(Shape{2, 5}), "V");
  for (Form form : kForms) {
    CHECK_THROWS_AS(form(Q, narrow, K, nullptr), ShapeError);  // keys narrower than queries
    CHECK_THROWS_AS(form(Q, K, V, nullptr), ShapeError);       // two values for three keys
  }
}
