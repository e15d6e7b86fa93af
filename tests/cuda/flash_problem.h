// A flash attention problem on the device, and the same in plain loops in double: what the tests of the ladder share.
#pragma once

#include <cmath>
#include <vector>

#include "engine/cuda/cuda.h"
#include "engine/cuda/flash_ladder.h"
#include "tests/compare.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct FlashShape {
  int n, m, d, d_v;  // of a head
  int batch = 1, heads = 1, kv_heads = 1;
  bool causal = false;
  int keep_rows = 0, masks = 1;  // 0, 1 or n rows for each mask
};

// x on the device as a view: `extra` columns stand before and behind it, so that ld > cols.
class Placed {
 public:
  Placed(CudaBackend& be, Mat x, int extra = 0) : be_(be), home_(Shape{x.rows, x.cols + 2 * extra}, &be), view_(home_.view().block(0, extra, x.rows, x.cols)) {
    be.from_host(x, view_);
  }
  operator Mat() const { return view_; }
  Matrix host() const {
    Matrix y(view_.shape());
    be_.to_host(view_, y);
    return y;
  }

 private:
  CudaBackend& be_;
  Matrix home_;
  Mat view_;
};

struct FlashProblem {
  FlashShape s;
  Tiling t;
  Real scale = Real(0.37);
  Matrix Q, K, V, dY, dL;
  std::vector<unsigned char> keep;  // query 1 of each mask sees nobody, if there are masks of n rows
  Matrix Y, L, D, dQ, dK, dV;       // in double, rounded at the end

  FlashProblem(FlashShape, std::uint64_t seed);
  bool sees(int b, int i, int j) const;
  void solve();  // Y, L, D and the gradients of Q, K, V, dY, dL as they are now
};

}  // namespace GLASS_PRECISION
}  // namespace glass
