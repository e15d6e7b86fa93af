// What the tests of the fast kernels share.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/cpu/cpu.h"
#include "engine/cpu/fast.h"
#include "engine/cpu/threads.h"
#include "engine/rng.h"
#include "tests/catch.h"
#include "tests/compare.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Every width of vectors that this processor has.
inline std::vector<Backend*> all_fast() {
  std::vector<Backend*> all;
  for (int bytes : {16, 32, 64})
    if (Backend* be = fast_cpu(bytes)) all.push_back(be);
  return all;
}

inline Backend& plain_cpu() {
  static CpuBackend plain;
  return plain;
}

constexpr Real kInf = Real(INFINITY), kNaN = Real(NAN);

inline bool alike(double a, double b, double close) { return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b) : a == b || std::fabs(a - b) <= close * (1 + std::fabs(b)); }

// "" or the first place where two differ by more than close (1 + |want|); NaN is like NaN.
inline std::string unlike(Mat got, Mat want, double close) {
  for (int i = 0; i < got.rows; ++i)
    for (int j = 0; j < got.cols; ++j)
      if (!alike(double(got(i, j)), double(want(i, j)), close)) {
        return "(" + std::to_string(i) + ", " + std::to_string(j) + "): " + std::to_string(got(i, j)) + " for " + std::to_string(want(i, j));
      }
  return "";
}

inline Matrix normals(int rows, int cols, Rng& rng) {
  Matrix m(Shape{rows, cols});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m(i, j) = Real(rng.normal());
  return m;
}

// A matrix inside a larger one: ld > cols, and its rows start anywhere.
struct View {
  Matrix all;
  Mat mat;
  View(int rows, int cols, Rng& rng) : all(normals(rows, cols + 3, rng)), mat(all.view().block(0, 1, rows, cols)) {}
};

struct Threads {  // for one scope
  explicit Threads(int n) { set_threads(n); }
  ~Threads() { set_threads(0); }
};

}  // namespace GLASS_PRECISION
}  // namespace glass
