// What a lesson claims, and whether it holds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The largest |got - want| / (1 + max |want|); infinite if the shapes differ or a NaN is in it.
static double gap(Mat got, Mat want) {
  if (got.shape() != want.shape()) return HUGE_VAL;
  double size = 1, worst = 0;
  for (int r = 0; r < want.rows; ++r)
    for (int c = 0; c < want.cols; ++c) size = std::max(size, 1 + std::fabs(double(want(r, c))));
  for (int r = 0; r < want.rows; ++r) {
    for (int c = 0; c < want.cols; ++c) {
      const double g = std::fabs(double(got(r, c)) - double(want(r, c))) / size;
      worst = std::isnan(g) ? HUGE_VAL : std::max(worst, g);
    }
  }
  return worst;
}

std::string Page::below(double tolerance) {
  return fmt::format("ok (< 1e{})", int(std::lround(std::log10(tolerance))));
}

// What double keeps to 1e-9, float on a device keeps to 1e-4 (values alone to 1e-5; checks compare gradients, too).
double Page::in_float(double tolerance) const { return on_device() ? std::max(tolerance, 1e-4) : tolerance; }

bool Page::report(const std::string& claim, bool ok, const std::string& text, bool judged) {
  begin();
  put(spelled(fmt::format("   {:<58} {}\n", claim, painted(text, !judged ? "33" : ok ? "32" : "31"))));
  told().checks.push_back(int(verdicts_.size()));
  verdicts_.push_back({claim, text, ok, -1, judged});
  return ok;
}

bool Page::leaves_out(const std::string& claim, About about) {
  if (!on_device() || about == About::numbers) return false;
  report(claim, true, about == About::doubles ? "not judged in float" : "not judged on " + options.device, false);
  return true;
}

bool Page::check(const std::string& claim, std::initializer_list<Same> pairs, double tolerance, About about) {
  if (leaves_out(claim, about)) return true;
  double worst = 0;
  tolerance = in_float(tolerance);
  for (const Same& p : pairs) worst = std::max(worst, gap(p.got, p.want));
  return report(claim, worst < tolerance, worst < tolerance ? below(tolerance) : "WRONG by " + to_text(worst));
}

bool Page::check(const std::string& claim, double got, double want, double tolerance, About about) {
  if (leaves_out(claim, about)) return true;
  tolerance = in_float(tolerance);
  const bool ok = std::fabs(got - want) / (1 + std::fabs(want)) < tolerance;
  return report(claim, ok, ok ? below(tolerance) : fmt::format("WRONG: {} is not {}", to_text(got), to_text(want)));
}

bool Page::check(const std::string& claim, bool holds, About about) {
  return leaves_out(claim, about) || report(claim, holds, holds ? "ok" : "WRONG");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
