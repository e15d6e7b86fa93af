#include "layers/optim/clip.h"

#include <cmath>
#include <limits>

#include "engine/backend.h"
#include "engine/errors.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static Param& give(ParamStore& store, const std::string& name, const Matrix& gradient) {
  Rng rng(1);
  Param& p = store.make(name, gradient.shape(), Init::ones, rng);
  p.grad.home()->from_host(gradient, p.grad);
  return p;
}

TEST_CASE("clip: a worked example to ten digits: one norm and one factor for all parameters") {
  const Matrix g = sines({2, 3}, 1, 3, 1), h = cosines({1, 2}, 1, 2, 3, 1);
  ParamStore store;
  Param& a = give(store, "a", g);
  Param& b = give(store, "b", h);
  const double norm = clip_by_norm(store, 1);
  CHECK(norm == Approx(1.94068864882).epsilon(kDouble ? 1e-11 : 1e-6));
  const double factor = 1 / 1.94068864882;  // 0.515280740849 with a small constant added to the norm: 1 / (norm + 1e-6)
  CHECK(1 / (norm + 1e-6) == Approx(0.515280740849).epsilon(kDouble ? 1e-11 : 1e-6));
  Matrix g_clipped = g, h_clipped = h;
  for (int j = 0; j < 3; ++j) g_clipped(0, j) *= Real(factor), g_clipped(1, j) *= Real(factor);
  for (int j = 0; j < 2; ++j) h_clipped(0, j) *= Real(factor);
  CHECK(difference(a.grad, g_clipped) == "");
  CHECK(difference(b.grad, h_clipped) == "");
}

TEST_CASE("clip: afterwards the norm is the limit, and clipping again changes nothing but rounding") {
  Rng rng(2);
  for (double limit : {1e-3, 0.5, 2.0}) {
    ParamStore store;
    Param& a = give(store, "a", random_matrix({7, 9}, rng));
    give(store, "b", random_matrix({1, 9}, rng));
    CHECK(clip_by_norm(store, limit) > limit);
    const Matrix once = a.grad;
    CHECK(clip_by_norm(store, limit) == Approx(limit).epsilon(kDouble ? 1e-14 : 1e-6));
    CHECK(difference(a.grad, once, kDouble ? Tolerance{1e-14, 0} : Tolerance{1e-6, 0}) == "");
  }
}

TEST_CASE("clip: gradients within the limit keep their bits, and values are never touched") {
  Rng rng(3);
  const Matrix g = random_matrix({3, 3}, rng);
  ParamStore store;
  Param& a = give(store, "a", g);
  const double norm = clip_by_norm(store, 100);
  CHECK(bit_difference(a.grad, g) == "");
  clip_by_norm(store, norm);
  CHECK(bit_difference(a.grad, g) == "");
  clip_by_norm(store, std::numeric_limits<double>::infinity());  // only measures
  CHECK(bit_difference(a.grad, g) == "");
  clip_by_norm(store, norm / 2);
  CHECK(bit_difference(a.grad, g) != "");
  CHECK(bit_difference(a.value, Matrix{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}) == "");
  CHECK(a.version == 0);
}

TEST_CASE("clip: nothing but zeros, no entries, no parameters") {
  ParamStore store;
  CHECK(clip_by_norm(store, 1) == 0);
  Param& a = give(store, "a", Matrix(Shape{2, 2}));
  give(store, "b", Matrix(Shape{0, 3}));
  CHECK(clip_by_norm(store, 1) == 0);
  CHECK(all_zero(a.grad));
}

TEST_CASE("clip: the sign of a gradient does not matter") {
  ParamStore store;
  Param& a = give(store, "a", {{-3, -4}});
  CHECK(clip_by_norm(store, 1) == 5);
  CHECK(difference(a.grad, Matrix{{-0.6, -0.8}}) == "");
}

TEST_CASE("clip: the squares of a gradient may overflow or vanish, its norm does not") {
  const double large = kDouble ? 1e300 : 1e38, small = kDouble ? 1e-300 : 1e-38;
  ParamStore store;
  Param& a = give(store, "a", {{0.75 * large, large}});
  CHECK(clip_by_norm(store, 1) == Approx(1.25 * large).epsilon(1e-6));
  CHECK(difference(a.grad, Matrix{{0.6, 0.8}}, {1e-6, 0}) == "");
  ParamStore tiny;
  give(tiny, "a", {{0.75 * small, small}});
  CHECK(clip_by_norm(tiny, 1) == Approx(1.25 * small).epsilon(1e-6));
}

TEST_CASE("clip: NaN or infinity is an error that names the parameter and the entry, and changes nothing") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (double bad : {nan, inf, -inf}) {
    CAPTURE(bad);
    ParamStore store;
    Param& a = give(store, "a", {{3, 4}});
    Param& b = give(store, "W_q", {{3, 4, 5}, {6, bad, 7}});
    const Matrix before = b.grad;
    CHECK_THROWS_AS(clip_by_norm(store, 1), NonFiniteError);
    CHECK_THROWS_WITH(clip_by_norm(store, 1), ContainsSubstring("dW_q[1,1] is " + to_text(bad)));
    CHECK(bit_difference(a.grad, Matrix{{3, 4}}) == "");
    CHECK(bit_difference(b.grad, before) == "");
  }
}

TEST_CASE("clip: a limit that is not above 0 is an error that says it") {
  ParamStore store;
  for (double limit : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(clip_by_norm(store, limit), InputError);
  }
  CHECK_THROWS_WITH(clip_by_norm(store, -1), ContainsSubstring("limit") && ContainsSubstring("-1"));
}
