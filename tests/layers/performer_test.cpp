// Performer: by numbers that were computed elsewhere; what its features promise, and how they are drawn.
#include "layers/attention/performer.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/efficient_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

static Matrix fixed_features() { return sines({6, 4}, 1.3, 2, 3, 0.4); }

static Performer performer(LinearForm form, bool stable) {
  Performer p(fixed_features(), form);
  p.stable = stable;
  return p;
}

TEST_CASE("performer: features, values and gradients to ten digits; what is subtracted cancels") {
  for (const LinearForm form : {LinearForm::quadratic, LinearForm::sums}) {
    for (const bool stable : {false, true}) {
      CAPTURE(int(form), stable);
      OneHead head(performer(form, stable));
      CHECK(difference(head.Y.value(), Matrix{{0.1462179355, -0.2408264901, 0.0542204285},
                                              {0.1344673384, -0.2267428117, 0.0542492692},
                                              {0.1581342842, -0.2562717357, 0.0551590600},
                                              {0.1243608772, -0.2131430266, 0.0530367153},
                                              {0.1683297346, -0.2693469315, 0.0558460124}}) == "");
      head.check_fingerprints(-0.133146067655, -0.173407955613, -0.00275449745525);
      if (stable) continue;
      CHECK(difference(head.tape.find("a").value(), Matrix{{0.2511729250, 0.2760268322, 0.3056469687, 0.2555035741, 0.2678550710, 0.3080764902},
                                                          {0.3090489399, 0.3056209756, 0.2225595712, 0.2930406788, 0.3200523232, 0.2258750524},
                                                          {0.2347012852, 0.2183374510, 0.3694676371, 0.2563466644, 0.2053548995, 0.3559774546},
                                                          {0.3077890771, 0.3591232745, 0.1740429720, 0.2725806124, 0.3871855999, 0.1845946029},
                                                          {0.2159148227, 0.1710132673, 0.4240912361, 0.2514379224, 0.1566591211, 0.3917417188}}) ==
            "");
    }
  }
}

TEST_CASE("performer: over masks, batches, heads and lengths") {
  check_variant(performer(LinearForm::quadratic, true));
  check_variant(performer(LinearForm::sums, true));
  check_variant(performer(LinearForm::sums, false));
}

TEST_CASE("performer: the causal bound cancels as the maximum does") {
  const Mask causal = Mask::causal(5, 5);
  OneHead stable(performer(LinearForm::sums, true), &causal), bare(performer(LinearForm::sums, false), &causal), all(performer(LinearForm::sums, true));
  CHECK(difference(stable.Y.value(), bare.Y.value(), kRounding) == "");
  CHECK(difference(stable.K.grad(), bare.K.grad(), kRounding) == "");
  CHECK(difference(stable.Y.value().block(4, 0, 1, 3), all.Y.value().block(4, 0, 1, 3), kRounding) == "");
}

TEST_CASE("performer: a maximum for each key does not cancel") {
  OneHead right(performer(LinearForm::quadratic, true));
  Tape tape;
  const Var x = scale(tape.input(right.Q.value(), "Q"), std::sqrt(0.5)), y = scale(tape.input(right.K.value(), "K"), std::sqrt(0.5));
  const Var a = positive_features(x, fixed_features(), Shift::each_row), right_b = positive_features(y, fixed_features(), Shift::none);
  const Var b = mul_col(right_b, exp(neg(row_max(tape.find("H")))));  // the largest w·y of each key
  const Var wrong = attend_by_features(LinearForm::quadratic, a, b, tape.input(right.V.value(), "V"), 0, {});
  double apart = 0;
  for (int i = 0; i < 5; ++i)
    for (int c = 0; c < 3; ++c) apart = std::max(apart, std::fabs(double(wrong.value()(i, c) - right.Y.value()(i, c))));
  CHECK(apart == Approx(0.0537876486981).epsilon(kPrinted.relative));
}

TEST_CASE("performer: long queries and keys neither overflow nor vanish with what is subtracted") {
  const Matrix q = sines({5, 4}, 40, 3, 1), k = cosines({5, 4}, 40, 2, -1);
  const Performer stable = performer(LinearForm::sums, true);
  OneHead head(q, k, stable);
  for (int i = 0; i < 5; ++i)
    for (int c = 0; c < 3; ++c) CHECK(std::isfinite(head.Y.value()(i, c)));
}

TEST_CASE("performer: the mean of the features' products is the exponential") {
  // One dimension, integrated over the density of w by the trapezoidal rule, which is all but exact for it.
  const double x = 0.7, y = -1.1, step = 0.05;
  Matrix W(Shape{801, 1});
  for (int r = 0; r < 801; ++r) W(r, 0) = Real((r - 400) * step);
  Tape tape;
  const Mat fx = positive_features(tape.constant(Matrix{{x}}, "x"), W, Shift::none).value();
  const Mat fy = positive_features(tape.constant(Matrix{{y}}, "y"), W, Shift::none).value();
  double mean = 0;
  for (int r = 0; r < 801; ++r) {
    const double w = double(W(r, 0)), density = 0.3989422804014327 * std::exp(-w * w / 2);
    mean += double(fx(0, r)) * double(fy(0, r)) * 801 * density * step;
  }
  CHECK(mean == Approx(0.463013068311).epsilon(kPrinted.relative));  // exp(x y)
}

TEST_CASE("random features: orthogonal blocks with the lengths of normal rows") {
  Rng rng(4);
  const Matrix W = random_features(Draw::orthogonal, 10, 4, rng);  // the last block is cut
  CHECK(W.shape() == Shape{10, 4});
  for (int i = 0; i < 10; ++i) {
    for (int k = i - i % 4; k < i; ++k) {
      double dot = 0;
      for (int j = 0; j < 4; ++j) dot += double(W(i, j)) * double(W(k, j));
      CHECK(std::fabs(dot) < (kDouble ? 1e-12 : 1e-5));
    }
  }
  CHECK_THROWS_AS(random_features(Draw::iid, 0, 4, rng), InputError);
}

TEST_CASE("random features: a raw QR is orthogonal too, but its first row never points up") {
  Rng rng(4), same(4);
  const Matrix right = random_features(Draw::orthogonal, 400, 4, rng), raw = random_features(Draw::raw_qr, 400, 4, same);
  int up = 0, turned = 0;
  for (int i = 0; i < 400; ++i) {
    const double sign = right(i, 0) * raw(i, 0) > 0 ? 1 : -1;  // each row is the right one, or its opposite
    for (int j = 0; j < 4; ++j) CHECK(double(raw(i, j)) == Approx(sign * double(right(i, j))));
    turned += sign < 0;
    if (i % 4 != 0) continue;
    CHECK(raw(i, 0) <= 0);
    up += right(i, 0) > 0;
  }
  CHECK(up > 30);  // of 100
  CHECK(up < 70);
  CHECK(turned > 100);
  CHECK(turned < 300);
}

TEST_CASE("performer: features of another width are an error") {
  CHECK_THROWS_AS(OneHead(Performer(sines({6, 5}, 1, 2, 3))), ShapeError);
}

TEST_CASE("performer: padded keys count as if they were not there") {
  const Mask first_three = Mask::visible({true, true, true, false, false}, 5);
  for (const LinearForm form : {LinearForm::quadratic, LinearForm::sums}) {
    const Performer variant = performer(form, true);
    CHECK(difference(OneHead(variant, &first_three).Y.value(), OneHead(variant, nullptr, 5, 3).Y.value(), kRounding) == "");
  }
}
