// How is a model doing? What a tape that was swept says about its attention and its gradients.
#pragma once

#include <string>
#include <vector>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// One matrix of weights: a line that softmax made, or an attention() line, whose weights are read from its field.
struct HeadHealth {
  int line = -1;
  double entropy = 0;        // mean over the rows of -Σ_j A_ij ln A_ij, with 0 ln 0 = 0; rows of zeros do not count
  double even = 0;           // the entropy if every row were spread evenly over what it may see, ln(entries > 0)
  double saturated = 0;      // share of the rows whose largest weight is above 0.99
  double largest_score = 0;  // max |E_ij| of what went into the softmax, -inf aside; NaN if it was not kept
};
std::vector<HeadHealth> head_health(const Tape&);

double row_entropy(Mat A, int row);  // -Σ_j A_ij ln A_ij

// The gradients of the parameters, joined by layer: the first part of the scope ("layer 3" of "layer 3/head 0"), or the
// name of the parameter where there is no scope. Empty before a sweep.
struct LayerGradient {
  std::string layer;
  double norm = 0;  // √ of the sum of all squares
  long entries = 0;
};
std::vector<LayerGradient> layer_gradients(const Tape&);

}  // namespace GLASS_PRECISION
}  // namespace glass
