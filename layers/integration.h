// Three ways of building attention into a network for sequences.
#pragma once

#include "layers/attention/multi_head.h"
#include "layers/conv.h"
#include "layers/recurrent.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   standalone       Y = attention(X)                      attention in place of what was there before
//   hybrid           Y = attention(H)                      H = tanh(conv(X)) or recurrent(X): neighbours first, then all
//   augmented        Y = [conv(X) | attention(X)]          side by side: a part of the columns from each
//
//   X: n x C    Y: n x C, for all of them
//
// Hybrid: the encoders of Bahdanau et al. 2015 (recurrent) and Gulati et al. 2020, "Conformer" (convolution) are of this
// kind. Augmented: Bello et al. 2019, "Attention Augmented Convolutional Networks", section 3.2.
enum class Integration { standalone, conv, recurrent, augmented };

struct Integrated {
  Integration form;
  std::vector<MultiHeadAttention> attention;  // one; of half the width if augmented
  std::vector<Conv> conv;                     // one with conv and augmented (three taps, centred), else none
  std::vector<Recurrent> recurrent;           // one with recurrent, else none
  std::vector<Linear> narrow;                 // augmented: C -> C/2, before its attention

  // Throws ShapeError if C, or half of it if augmented, is no multiple of heads.
  Integrated(ParamStore&, Integration, int C, int heads, Rng&);
  Var operator()(Var X, const Heads& cut = {}) const;  // one sequence; lines "H" (hybrid), "local", "global" (augmented), "Y"
};

}  // namespace GLASS_PRECISION
}  // namespace glass
