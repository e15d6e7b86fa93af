#include "engine/cost.h"

#include <algorithm>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

double numbers_in(Mat m) { return m.data ? double(m.rows) * m.cols : 0; }

double bytes_in(Mat m) { return numbers_in(m) * sizeof(Real); }

int wanted(const Step& s) {
  int n = 0;
  for (int i = 0; i < s.n_in; ++i) n += s.dx[i].data != nullptr;
  return n;
}

double usual_bytes(const Step& s, Pass pass, bool needs_x) {
  double sum = bytes_in(pass == Pass::forward ? s.y : s.dy);
  for (int i = 0; i < s.n_in; ++i) {
    if (pass == Pass::forward || needs_x) sum += bytes_in(s.x[i]);
    if (pass == Pass::backward) sum += 2 * bytes_in(s.dx[i]);
  }
  return sum;
}

Cost per_entry(const Step& s, Pass pass, double forward, double backward, bool needs_x) {
  double entries = numbers_in(s.y);
  for (int i = 0; i < s.n_in; ++i) entries = std::max(entries, numbers_in(s.x[i]));
  return {entries * (pass == Pass::forward ? forward : backward * wanted(s)), usual_bytes(s, pass, needs_x)};
}

Cost multiply_adds(const Step& s, Pass pass, double n) {
  return {2 * n * (pass == Pass::forward ? 1 : wanted(s)), usual_bytes(s, pass)};
}

double attention_flops(const Step& s, Pass pass, double pairs, double d, double d_v, bool again) {
  const double scores = 2 * d, mix = 2 * d_v;  // one product each, for a pair
  if (pass == Pass::forward) return pairs * (scores + 17 + mix);   // 17: the scale, the softmax
  const bool dQ = s.dx[0].data, dK = s.dx[1].data, dV = s.dx[2].data;
  double each = again ? scores + 2 + kCurve : 0;
  if (dV) each += mix;
  if (dQ || dK) each += mix + 5;  // dA, then dE with its scale
  return pairs * (each + scores * (dQ + dK));
}

Cost Op::cost(const Step& s, Pass pass) const { return per_entry(s, pass, 1, 2); }

}  // namespace GLASS_PRECISION
}  // namespace glass
