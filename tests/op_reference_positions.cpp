#include <complex>

#include "tests/op_reference.h"

std::vector<int> places_among(int entries, int n) {
  std::vector<int> all;
  for (int k = 0; k < n; ++k) all.push_back((7 * k + 2) % entries);
  return all;
}

// A pair of channels is a complex number a + ib, and a turn a product with e^(iθ).
static Table turned(Table y, int dims, bool half) {
  for (int r = 0; r < y.rows; ++r) {
    double speed = 1;  // base^(-2i/dims)
    for (int i = 0; i < dims / 2; ++i, speed *= std::pow(kBase, -2.0 / dims)) {
      double& a = y(r, half ? i : 2 * i);
      double& b = y(r, half ? i + dims / 2 : 2 * i + 1);
      const std::complex<double> z = std::complex<double>(a, b) * std::polar(1.0, (kFirst + r) * kSpacing * speed);
      a = z.real(), b = z.imag();
    }
  }
  return y;
}

Table ref_rotary(const Table* x) { return turned(x[0], x[0].cols / 2 * 2, false); }
Table ref_rotary_half(const Table* x) { return turned(x[0], x[0].cols / 2 * 2, true); }

Table ref_rotary_heads(const Table* x) {  // cut out, turned alone, put back
  Table y = x[0];
  const int batch = y.rows == 1 ? 1 : 3, heads = y.cols == 3 ? 1 : 2, n = y.rows / batch, d = y.cols / heads;
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < heads; ++h) {
      Table part(n, d);
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < d; ++c) part(r, c) = y(b * n + r, h * d + c);
      part = turned(part, d / 2 * 2, false);
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < d; ++c) y(b * n + r, h * d + c) = part(r, c);
    }
  }
  return y;
}

Table ref_gather_entries(const Table* x) {
  Table y(2, x[0].entries.empty() ? 0 : 7);
  const std::vector<int> places = places_among(int(x[0].entries.size()), int(y.entries.size()));
  for (std::size_t k = 0; k < places.size(); ++k) y.entries[k] = x[0].entries[std::size_t(places[k])];
  return y;
}

Table ref_scatter_entries(const Table* x) {
  Table y(4, 2);
  const std::vector<int> places = places_among(8, int(x[0].entries.size()));
  for (std::size_t k = 0; k < places.size(); ++k) y.entries[std::size_t(places[k])] += x[0].entries[k];
  return y;
}
