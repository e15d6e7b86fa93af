#include "tutorials/page/pack.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "engine/io/json_text.h"

namespace glass {
inline namespace GLASS_PRECISION {

const Thin kWhole = {LONG_MAX, 0};
static const Thin kWays[] = {{4096, 512}, {2048, 256}, {1024, 128}, {576, 64}, {256, 32}, {64, 16}, {64, 0}, {0, 0}};

std::string base64(const std::vector<unsigned char>& bytes) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = unsigned(bytes[i]) << 16;
    if (i + 1 < bytes.size()) three |= unsigned(bytes[i + 1]) << 8;
    if (i + 2 < bytes.size()) three |= unsigned(bytes[i + 2]);
    text += letters[three >> 18 & 63];
    text += letters[three >> 12 & 63];
    text += i + 1 < bytes.size() ? letters[three >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? letters[three & 63] : '=';
  }
  return text;
}

static std::string numbers(Mat m) {
  JsonArray rows;
  for (int r = 0; r < m.rows; ++r) {
    JsonArray row;
    for (int c = 0; c < m.cols; ++c) row.add(to_json(m(r, c)));
    rows.add(row.done());
  }
  return rows.done();
}

// The mean of entries r0..r1-1, c0..c1-1. One NaN makes a NaN, and infinities stay: nothing bad is hidden by its neighbours, but
// what a mask hid (-inf) counts only where all of the block is hidden.
static double mean_of(Mat m, int r0, int r1, int c0, int c1) {
  double sum = 0;
  long n = 0;
  for (int r = r0; r < r1; ++r) {
    for (int c = c0; c < c1; ++c) {
      const double x = double(m(r, c));
      if (std::isinf(x) && x < 0) continue;
      sum += x;
      ++n;
    }
  }
  return n ? sum / double(n) : -HUGE_VAL;
}

static int edge(int i, int n, int of) { return int(std::int64_t(i) * of / n); }  // where block i of n begins

static std::string map_of(Mat m, int side) {
  const int rows = std::min(m.rows, side), cols = std::min(m.cols, side);
  std::vector<double> cells;
  double low = 0, high = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      const double x = mean_of(m, edge(r, rows, m.rows), edge(r + 1, rows, m.rows), edge(c, cols, m.cols), edge(c + 1, cols, m.cols));
      cells.push_back(x);
      if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
    }
  }
  if (low < 0) high = std::max(high, -low), low = -high;  // around 0, so that 0 is byte 126 exactly
  if (high == low) high = low + 1;
  std::vector<unsigned char> bytes;
  for (const double x : cells) {
    const bool finite = std::isfinite(x);
    bytes.push_back(finite ? static_cast<unsigned char>(std::lround((x - low) / (high - low) * 252)) : std::isnan(x) ? 255 : x < 0 ? 253 : 254);
  }
  JsonObject out;
  out.add("map", "\"" + base64(bytes) + "\"");
  out.add("rows", to_json(rows)), out.add("columns", to_json(cols));
  out.add("low", to_json(low)), out.add("high", to_json(high));
  return out.done();
}

std::string packed(Mat m, Thin thin) {
  if (count(m.shape()) <= thin.numbers) return numbers(m);
  return thin.side ? map_of(m, thin.side) : "{\"left_out\":true}";
}

std::size_t packed_size(Shape s, Thin thin) {
  const std::size_t entries = std::size_t(count(s));
  if (long(entries) <= thin.numbers) return 21 * entries + 2 * std::size_t(s.rows) + 2;
  return thin.side ? std::size_t(std::min(s.rows, thin.side)) * std::size_t(std::min(s.cols, thin.side)) * 4 / 3 + 120 : 20;
}

Thin thin_for(const std::vector<Shape>& shapes, std::size_t bytes) {
  for (const Thin& way : kWays) {
    std::size_t sum = 0;
    for (const Shape& s : shapes) sum += packed_size(s, way);
    if (sum <= bytes) return way;
  }
  return kWays[std::size(kWays) - 1];
}

}  // namespace GLASS_PRECISION
}  // namespace glass
