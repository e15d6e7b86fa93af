// The forms that `tutorials/run diff` compares, each on a tape of its own.
#pragma once

#include <memory>
#include <string>

#include "engine/params.h"
#include "layers/attention/variant.h"
#include "layers/encoder_block.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Multi-head attention, unless the name says otherwise:
//   any name of all_variants()            each head in that way
//   causal, padding, causal+padding       plain, with that mask; padding hides the last word
//   cut-up, per-head                      one projection for all heads, or one for each (the same weights)
//   multi-head, grouped, multi-query      as many key heads as heads, half as many, one
//   pre-norm, post-norm                   an encoder block
struct Form {
  ParamStore params;
  Tape tape;
  Var X, Y;

  // Records the form for the words x (n x C) and goes back from dY. Weights depend on the seed and on nothing else.
  Form(const std::string& name, Mat x, int heads, std::uint64_t seed, Mat dY);

 private:
  std::unique_ptr<Variant> variant_;
  std::unique_ptr<EncoderBlock> block_;
};

std::string form_list();  // all names, with what they are and the lesson

}  // namespace GLASS_PRECISION
}  // namespace glass
