// The fast functions of one number: how far from the truth, and what they make of numbers that are none.
#include <cstdlib>
#include <cstring>
#include <limits>

#include "engine/functions.h"
#include "tests/engine/fast_kernels.h"

using namespace glass;

namespace {

constexpr double kUnit = double(std::numeric_limits<Real>::epsilon());
constexpr double kLeast = double(std::numeric_limits<Real>::min());  // the smallest normal number

std::vector<Real> mapped(Backend& be, Function f, std::vector<Real> x) {
  std::vector<Real> y(x.size());
  be.map(f, {x.data(), 1, int(x.size()), int(x.size())}, {y.data(), 1, int(x.size()), int(x.size())});
  return y;
}

double in_last_places(Real got, long double want) {
  int exponent = 0;
  std::frexp(want, &exponent);
  return double(std::fabs(got - want) / std::ldexp(1.0L, exponent - std::numeric_limits<Real>::digits));
}

// the worst of e^x over x, in units in the last place; infinite where a 0 or an infinity is missing
double worst_exp(Backend& be, const std::vector<Real>& x) {
  const std::vector<Real> y = mapped(be, Function::exp, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double want = kDouble ? std::exp((long double)(x[i])) : (long double)(std::exp(double(x[i])));
    double error = 0;
    if (std::isnan(x[i])) error = std::isnan(y[i]) ? 0 : INFINITY;
    else if (want < (long double)(kLeast)) error = y[i] == 0 ? 0 : INFINITY;
    else if (want > (long double)(std::numeric_limits<Real>::max())) error = y[i] == kInf ? 0 : INFINITY;
    else error = in_last_places(y[i], want);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

}  // namespace

TEST_CASE("e^x is right to 1.3 units in the last place, 0 where it would be denormal, infinite where it is too large") {
  const bool all = std::getenv("GLASS_LONG") != nullptr;
  for (Backend* be : all_fast()) {
    double worst = 0;
    std::vector<Real> x(1 << 16);
    if (kDouble) {
      Rng rng(1);
      for (int round = 0; round < (all ? 1000 : 10); ++round) {
        for (Real& v : x) v = Real(rng.uniform(-709, 710));
        worst = std::max(worst, worst_exp(*be, x));
      }
    } else {  // every float, or one of 1009
      std::uint64_t bits = 0;
      while (bits < std::uint64_t(1) << 32) {
        for (Real& v : x) {
          const std::uint32_t low = std::uint32_t(bits);
          float f;
          std::memcpy(&f, &low, sizeof f);
          v = Real(f);
          bits += all ? 1 : 1009;
        }
        worst = std::max(worst, worst_exp(*be, x));
      }
    }
    CHECK(worst < 1.3);
  }
}

TEST_CASE("e^x at its ends") {
  const Real low = Real(std::log(kLeast)), high = Real(std::log(double(std::numeric_limits<Real>::max())));
  std::vector<Real> near;
  for (Real x : {low, high}) {
    Real down = x, up = x;
    for (int i = 0; i < 40; ++i) {
      near.push_back(down);
      near.push_back(up);
      down = std::nextafter(down, -kInf);
      up = std::nextafter(up, kInf);
    }
  }
  for (Backend* be : all_fast()) {
    CHECK(worst_exp(*be, near) < 1.3);
    const std::vector<Real> y = mapped(*be, Function::exp, {0, Real(-0.0), -kInf, kInf, -1000, 1000, kNaN});
    CHECK((y[0] == 1 && y[1] == 1 && y[2] == 0 && y[3] == kInf && y[4] == 0 && y[5] == kInf && std::isnan(y[6])));
  }
}

// ---- the other functions, against their definitions in long double

namespace {

using Long = long double;
Long sigma(Long x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Long twice_inner(Long x) { return 2 * std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x); }
Long below(Long x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
Long density(Long x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0L)); }

Long true_value(Function f, Long x) {
  switch (f) {
    case Function::tanh: return std::tanh(x);
    case Function::sigmoid: return sigma(x);
    case Function::softplus: return std::max(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
    case Function::elu_plus_one: return x > 0 ? x + 1 : std::exp(x);
    case Function::silu: return x * sigma(x);
    case Function::gelu: return x * below(x);
    case Function::gelu_tanh: return x * sigma(twice_inner(x));
    default: return 0;
  }
}

Long true_slope(Function f, Long x) {
  switch (f) {
    case Function::tanh: return 4 * sigma(2 * x) * sigma(-2 * x);
    case Function::sigmoid: return sigma(x) * sigma(-x);
    case Function::softplus: return sigma(x);
    case Function::elu_plus_one: return x > 0 ? 1 : std::exp(x);
    case Function::silu: return sigma(x) + x * sigma(x) * sigma(-x);
    case Function::gelu: return below(x) + x * density(x);
    case Function::gelu_tanh: {
      const Long u = twice_inner(x), inner = twice_inner(1) / 1.044715L * (1 + 3 * 0.044715L * x * x);
      return sigma(u) + (std::fabs(u) > 11000 ? 0 : x * sigma(u) * sigma(-u) * inner);
    }
    default: return 0;
  }
}

// the exponent that e is raised to, whose rounding e^… multiplies
double exponent_of(Function f, double x) {
  const double u = f == Function::gelu ? x * x / 2 : f == Function::gelu_tanh ? std::fabs(double(twice_inner(x))) : f == Function::tanh ? 2 * std::fabs(x) : 0;
  return std::min(u, kDouble ? 745.0 : 104.0);
}

std::vector<Real> points() {
  std::vector<Real> x;
  for (double v = 1e-30; v < 1e4; v *= 1.07)
    for (double sign : {-1, 1}) x.push_back(Real(sign * v));
  const double end = kDouble ? 760 : 110;
  for (int i = 0; i < 20001; ++i) x.push_back(Real(-end + 2 * end * i / 20000));
  for (int i = 0; i < 20001; ++i) x.push_back(Real(-10 + 20.0 * i / 20000));
  return x;
}

const Function kSmooth[] = {Function::tanh, Function::sigmoid, Function::softplus, Function::elu_plus_one, Function::silu, Function::gelu, Function::gelu_tanh};

}  // namespace

TEST_CASE("fast functions and their slopes keep the relative error, near 0 and far out") {
  const std::vector<Real> x = points();
  const int n = int(x.size());
  for (Backend* be : all_fast()) {
    for (Function f : kSmooth) {
      const std::vector<Real> y = mapped(*be, f, x);
      std::vector<Real> ones(x.size(), 1), dx(x.size(), 0);
      const auto row = [&](const std::vector<Real>& v) { return Mat{const_cast<Real*>(v.data()), 1, n, n}; };
      be->map_backward(f, row(x), row(y), row(ones), row(dx), true);
      double worst = 0, worst_slope = 0;
      int at = 0, at_slope = 0;
      for (int i = 0; i < n; ++i) {
        const double room = kUnit * (1 + exponent_of(f, double(x[i]))), tiny = 1e4 * kLeast;  // a product may be denormal, and e^x is 0 there
        const Long want = true_value(f, x[i]), slope = true_slope(f, x[i]);
        const double error = double(std::fabs(y[i] - want)) / (room * double(std::fabs(want)) + tiny);
        // the slope of silu and the gelus has a zero, where two terms cancel
        const bool crosses = f == Function::silu || f == Function::gelu || f == Function::gelu_tanh;
        const double slope_error = double(std::fabs(dx[i] - slope)) / (room * (double(std::fabs(slope)) + (crosses && x[i] > -3 ? 1 : 0)) + tiny);
        if (!(error <= worst)) worst = error, at = i;
        const bool cancels = crosses && x[i] <= -3;  // there only in its size
        if (!(slope_error <= worst_slope) && !cancels) worst_slope = slope_error, at_slope = i;
        if (cancels) CHECK(double(std::fabs(dx[i] - slope)) <= 1e3 * room * double(std::fabs(slope)) + tiny * 100);
      }
      INFO("function " << int(f) << ": value off by " << worst << " at " << x[std::size_t(at)] << ", slope by " << worst_slope << " at " << x[std::size_t(at_slope)]);
      CHECK(worst < 4);
      CHECK(worst_slope < 4);
    }
  }
}

TEST_CASE("fast functions treat 0, infinity and NaN as the plain ones do") {
  const Real tiny = Real(kLeast / 8);
  const std::vector<Real> special = {0, Real(-0.0), tiny, -tiny, 1, -1, Real(30), Real(-30), Real(1e30), Real(-1e30), kInf, -kInf, kNaN};
  const double close = 40 * kUnit;
  for (Backend* be : all_fast()) {
    for (Function f : {Function::exp, Function::log, Function::sin, Function::cos, Function::sqrt, Function::abs, Function::tanh, Function::sigmoid, Function::softplus,
                       Function::elu_plus_one, Function::relu, Function::gelu, Function::gelu_tanh, Function::silu}) {
      for (Real x : special) {
        for (Real dy : special) {
          Matrix X{{0}}, y{{0}}, want_y{{0}}, dY{{0}}, dx{{2}}, want{{2}};
          X(0, 0) = x;
          dY(0, 0) = dy;
          be->map(f, X, y);
          plain_cpu().map(f, X, want_y);
          be->map_backward(f, X, want_y, dY, dx, true);
          plain_cpu().map_backward(f, X, want_y, dY, want, true);
          INFO("function " << int(f) << " of " << x << ", dy " << dy);
          CHECK(unlike(y, want_y, close) == "");
          CHECK(unlike(dx, want, close) == "");
        }
      }
    }
  }
}

TEST_CASE("fast functions on views of any width, for any number of threads") {
  Rng rng(3);
  for (Backend* be : all_fast()) {
    for (int cols : {0, 1, 3, 15, 17, 64, 5000}) {
      for (Function f : {Function::gelu_tanh, Function::relu, Function::exp, Function::log, Function::sin}) {
        INFO("function " << int(f) << ", " << cols << " columns");
        const int rows = cols > 100 ? 9 : 5;
        View x(rows, cols, rng), dy(rows, cols, rng), y(rows, cols, rng), dx(rows, cols, rng);
        if (f == Function::log)
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) x.mat(i, j) = 1 + std::fabs(x.mat(i, j));
        const Matrix start = dx.all, around = y.all;
        Matrix want(x.mat.shape()), want_dx(dx.mat);
        plain_cpu().map(f, x.mat, want);
        plain_cpu().map_backward(f, x.mat, want, dy.mat, want_dx, true);
        Matrix first;
        for (int threads : {1, 2, 3}) {
          const Threads now(threads);
          plain_cpu().copy(start, dx.all);
          be->map(f, x.mat, y.mat);
          be->map_backward(f, x.mat, y.mat, dy.mat, dx.mat, true);
          CHECK(unlike(y.mat, want, 20 * kUnit) == "");
          CHECK(unlike(dx.mat, want_dx, 20 * kUnit) == "");
          if (threads == 1) first = Matrix(dx.all.view());
          CHECK(bit_difference(dx.all, first) == "");
        }
        for (int i = 0; i < rows; ++i) CHECK((y.all(i, 0) == around(i, 0) && y.all(i, cols + 1) == around(i, cols + 1)));
      }
    }
  }
}
