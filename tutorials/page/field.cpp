#include "tutorials/page/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "layers/attention/plain.h"
#include "layers/attention/sparse.h"
#include "tutorials/page/by_hand.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace field {

static Matrix words(int n, std::uint64_t seed) {
  Rng rng(seed);
  Matrix x(Shape{n, kWidth});
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < kWidth; ++c) x(i, c) = Real(rng.normal());
  return x;
}

// Records Y = variant(Q, K, V), goes back, and returns Y.
static Matrix run(Tape& tape, const Variant& variant, int n, std::uint64_t seed) {
  const Var Q = tape.input(words(n, seed), "Q"), K = tape.input(words(n, seed + 1), "K"), V = tape.input(words(n, seed + 2), "V");
  const Var Y = variant(Q, K, V);
  tape.backward(Y, words(n, seed + 3));
  return Matrix(Y.value());
}

static std::unique_ptr<Variant> make(const std::string& name, int n, std::uint64_t seed, ParamStore& store) {
  Rng rng(seed);
  return make_variant(name, store, n, kWidth, 1, rng);
}

static double pairs_of(const VariantInfo& info, int n) {
  ParamStore store;
  const std::unique_ptr<Variant> variant = make(info.name, n, 1, store);
  if (const Sparse* sparse = dynamic_cast<const Sparse*>(variant.get())) return double(sparse->pattern(n, n).pairs());
  if (info.growth == Growth::linear) return 0;                              // features and values only
  if (info.growth == Growth::low_rank) return (info.name[0] == 'l' ? 1.0 : 2.0) * n * 4;  // slots or landmarks: four
  return double(n) * n;
}

double fitted_exponent(const std::vector<double>& sizes, const std::vector<double>& values) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const double n = double(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double a = std::log(sizes[i]), b = std::log(values[i]);
    x += a, y += b, xx += a * a, xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

Costs measure(const VariantInfo& info, std::uint64_t seed) {
  Costs costs;
  costs.info = &info;
  std::vector<double> sizes;
  for (const int n : kSizes) {
    ParamStore store;
    Tape tape;
    const Matrix Y = run(tape, *make(info.name, n, seed, store), n, seed);
    sizes.push_back(n);
    costs.numbers.push_back(double(tape.peak_bytes()) / sizeof(Real));
    if (n != kSizes[0]) continue;
    Tape other;
    const Matrix want = run(other, plain_attention, n, seed);
    costs.differs = by_hand::distance(Y, want) / by_hand::norm(want);
  }
  costs.pairs = pairs_of(info, kSizes[3]);
  costs.exponent = fitted_exponent(sizes, costs.numbers);
  return costs;
}

double seconds(const std::string& variant, int n, std::uint64_t seed) {
  double best = INFINITY;
  ParamStore store;
  const std::unique_ptr<Variant> v = make(variant, n, seed, store);
  Tape tape;
  tape.watch_nonfinite = false;
  run(tape, *v, n, seed);  // the first time the system hands out fresh memory, which is slow
  for (int i = 0; i < 3; ++i) {
    tape.rewind();
    const std::clock_t start = std::clock();
    run(tape, *v, n, seed);
    best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void print(Page& page, const std::vector<Costs>& all) {
  std::string text = fmt::format("   {:<14}{:<7}{:>9}{:>10}{:>9}{:>10}   {}\n", "attention", "lesson", "pairs", "numbers", "grows as", "differs", "");
  for (const Costs& c : all) {
    const std::string differs = c.differs < page.rounding() ? "exact" : fmt::format("{:.2f}", c.differs);
    text += fmt::format("   {:<14}{:<7}{:>9.0f}{:>10.0f}    n^{:.1f}{:>10}\n", c.info->name, c.info->lesson, c.pairs, c.numbers.back(), c.exponent, differs);
  }
  page.table(text);
}

}  // namespace field
}  // namespace GLASS_PRECISION
}  // namespace glass
