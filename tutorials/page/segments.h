// The chain of layers of lesson 22, in segments that are kept or run again.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "engine/ops.h"
#include "engine/recompute.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace segments {

inline long layers_run = 0;  // how many layers were run so far

// Some layers of a chain X_(l+1) = tanh(X_l W_l), as one block.
struct Chain final : Recomputable {
  std::vector<Param*> W;
  Var run(Tape& tape, const Var* in) override {
    Var X = in[0];
    for (Param* w : W) X = tanh(matmul(X, tape.use(*w))), ++layers_run;
    return X;
  }
  void parameters(std::vector<Param*>& all) const override { all.insert(all.end(), W.begin(), W.end()); }
};

// A chain of n layers, cut into segments of k; k = 0 keeps everything.
struct Net {
  ParamStore params;
  std::deque<Chain> segments;
  Net(int n, int k, int width, std::uint64_t seed) {
    Rng rng(seed);
    for (int l = 0; l < n; ++l) {
      if (k == 0 ? l == 0 : l % k == 0) segments.emplace_back();
      segments.back().W.push_back(&params.make("W" + std::to_string(l), {width, width}, Init::xavier, rng));
    }
  }
  Var operator()(Var X, bool keep) {
    for (Chain& s : segments) X = keep ? s.run(*X.tape, &X) : recompute(s, &X, 1);
    return X.named("Y");
  }
};

}  // namespace segments
}  // namespace GLASS_PRECISION
}  // namespace glass
