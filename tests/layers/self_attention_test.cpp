// Self-attention by numbers that were computed elsewhere, and by what must always hold.
#include "layers/attention/self_attention.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Form = SelfAttention::Form;

namespace {
// Four tokens of width 3, queries of width 2, values of width 4: no two sizes that a mix-up needs are alike.
struct Fixture {
  Tape tape;
  ParamStore store;
  Rng rng{1};
  SelfAttention layer{store, 3, 2, 4, rng};
  Matrix x = sines({4, 3}, 1, 3, 1), dY = cosines({4, 4}, 1, 2, 3, 1);
  Var X, Y;

  explicit Fixture(Form form) {
    layer.form = form;
    layer.q.W->set(cosines({3, 2}, 0.5, 1, 2));
    layer.k.W->set(sines({3, 2}, 0.5, 2, 1, 1));
    layer.v.W->set(cosines({3, 4}, 0.5, 3, -1, 0.5));
    X = tape.input(x, "X");
    Y = layer(X);
    tape.backward(Y, dY);
  }
};
}  // namespace

static double fingerprint_of_gradient(Fixture& f, const char* line) { return fingerprint(f.tape.find(line).grad()); }

static void check_fingerprint(double got, double want) {
  CHECK(got == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute));
}

static const Matrix kA{{0.3032991372, 0.1940493480, 0.3125266597, 0.1901248552},
                       {0.1917152687, 0.3074207501, 0.1842526065, 0.3166113747},
                       {0.3072859321, 0.1885616291, 0.3226025441, 0.1815498946},
                       {0.1886245520, 0.3093538243, 0.1782435748, 0.3237780488}};

TEST_CASE("self-attention: values and gradients to ten digits, in both forms") {
  for (Form form : {Form::steps, Form::fused}) {
    CAPTURE(int(form));
    Fixture f(form);
    CHECK(difference(f.Y.value(), Matrix{{0.0115826823, -0.0021613015, -0.0139181946, -0.0128787638},
                                         {-0.0133391923, 0.0125016593, 0.0268485430, 0.0165110001},
                                         {0.0130520563, -0.0030951178, -0.0163966548, -0.0146231831},
                                         {-0.0142897834, 0.0131264725, 0.0284743101, 0.0176429983}}) == "");
    CHECK(difference(f.X.grad(), Matrix{{0.0886563810, -0.0964961671, 0.1134043573},
                                        {0.0691726632, -0.0711471049, 0.0563129119},
                                        {0.0925107687, -0.1001583690, 0.1115898632},
                                        {0.0600762964, -0.0646030322, 0.0746150990}}) == "");
    check_fingerprint(fingerprint_of_gradient(f, "Q"), -0.0309867277013);
    check_fingerprint(fingerprint_of_gradient(f, "K"), 0.00132475914684);
    check_fingerprint(fingerprint_of_gradient(f, "V"), 0.224810072353);
    check_fingerprint(fingerprint_of_gradient(f, "W_q"), 0.0406273282847);
    check_fingerprint(fingerprint_of_gradient(f, "W_k"), 0.0340863063869);
    check_fingerprint(fingerprint_of_gradient(f, "W_v"), -0.0163276414312);
    check_fingerprint(fingerprint_of_gradient(f, "X"), 0.0427986350675);
  }
}

TEST_CASE("self-attention: the weights and the gradient of the scores to ten digits") {
  Fixture steps(Form::steps), fused(Form::fused);
  CHECK(difference(steps.tape.find("A").value(), kA) == "");
  CHECK(difference(weights_of(fused.Y).value(), kA) == "");
  CHECK(difference(steps.tape.find("E").grad(), Matrix{{0.0079984946, -0.0084378173, 0.0087342060, -0.0082948834},
                                                       {-0.0126459624, 0.0122229215, -0.0131162904, 0.0135393313},
                                                       {0.0019192086, -0.0022422662, 0.0029093422, -0.0025862846},
                                                       {0.0107887068, -0.0103415972, 0.0107148093, -0.0111619189}}) ==
        "");
}

// Σ_j a_ij b_ij for each row i
static Matrix row_products(Mat a, Mat b) {
  Matrix sums(Shape{a.rows, 1});
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) sums(i, 0) += a(i, j) * b(i, j);
  return sums;
}

TEST_CASE("self-attention: the rows of dE add up to zero, and those of A dA to those of dY Y") {
  Fixture f(Form::steps);
  const Mat A = f.tape.find("A").value(), dA = f.tape.find("A").grad(), dE = f.tape.find("E").grad();
  const Matrix ones = cosines({4, 4}, 1, 0, 0);
  CHECK(difference(row_products(dE, ones), Matrix(Shape{4, 1}), kRounding) == "");
  CHECK(!all_zero(dE));
  CHECK(difference(row_products(A, ones), Matrix{{1}, {1}, {1}, {1}}, kRounding) == "");
  CHECK(difference(row_products(A, dA), row_products(f.dY, f.Y.value()), kRounding) == "");
}

TEST_CASE("self-attention: each form agrees with differences") {
  for (Form form : {Form::steps, Form::fused}) {
    Fixture f(form);
    for (const char* line : {"X", "W_q", "W_k", "W_v"}) {
      CAPTURE(int(form), line);
      CHECK(gradient_gap(f.tape, f.Y, f.dY, f.tape.find(line)).ok());
    }
  }
}

TEST_CASE("self-attention: tokens in another order give the same rows in that order") {
  const int order[] = {2, 0, 3, 1};
  for (Form form : {Form::steps, Form::fused}) {
    Fixture f(form);
    Matrix moved_x(Shape{4, 3}), moved_Y(Shape{4, 4});
    for (int i = 0; i < 4; ++i) {
      for (int c = 0; c < 3; ++c) moved_x(i, c) = f.x(order[i], c);
      for (int c = 0; c < 4; ++c) moved_Y(i, c) = f.Y.value()(order[i], c);
    }
    const Var Y = f.layer(f.tape.input(moved_x, "X moved"));
    CHECK(difference(Y.value(), moved_Y, kRounding) == "");
    CHECK(difference(Y.value(), f.Y.value()) != "");  // equivariant, not invariant
  }
}

TEST_CASE("self-attention: how many parameters there are, and what they are called") {
  Rng rng(1);
  for (Bias bias : {Bias::no, Bias::yes}) {
    ParamStore store;
    SelfAttention(store, 3, 2, 4, rng, bias);
    long numbers = 0;
    for (const Param& p : store.all) numbers += long(count(p.value.shape()));
    CHECK(numbers == 2 * 3 * 2 + 3 * 4 + (bias == Bias::yes ? 2 + 2 + 4 : 0));
    for (const char* name : {"W_q", "W_k", "W_v"}) CHECK(store.find(name) != nullptr);
    for (const char* name : {"b_q", "b_k", "b_v"}) CHECK((store.find(name) != nullptr) == (bias == Bias::yes));
  }
}

TEST_CASE("self-attention: the mask reaches the attention") {
  const Mask first_only = Mask::visible({true, false, false, false}, 4);
  for (Form form : {Form::steps, Form::fused}) {
    Fixture f(form);
    const Var Y = f.layer(f.X, &first_only);
    const Mat first_value = f.tape.find("V").value().block(0, 0, 1, 4);
    for (int i = 0; i < 4; ++i) CHECK(bit_difference(Y.value().block(i, 0, 1, 4), first_value) == "");
  }
}
