// A stack of encoder blocks, and what it keeps for the way back.
#pragma once

#include "engine/recompute.h"
#include "layers/encoder_block.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Neighbouring blocks as one line of the tape, which runs them again on the way back.
struct EncoderSegment final : Recomputable {
  EncoderBlock* first = nullptr;
  int n = 0, number = 0;  // of blocks, and which block of the stack is the first
  Heads cut;              // of the last call

  Var run(Tape&, const Var* in) override;
  void parameters(std::vector<Param*>&) const override;
  void generators(std::vector<Rng*>&) override;
};

//   X_(l+1) = block_l(X_l)      l = 0 ... layers - 1       with NormPlace::pre one more norm at the end, the line "N"
//
// recompute_every = k > 0 keeps only what stands behind every k-th block (engine/recompute.h): less memory, one more
// forward, the same gradients bit for bit. Then the stack and the masks must live until the way back, and there is one
// call before each way back.
struct Encoder {
  std::vector<EncoderBlock> blocks;
  std::vector<LayerNorm> last;  // one, or none
  int recompute_every = 0;

  // Block l has the suffix + ".l".
  Encoder(ParamStore&, const std::string& suffix, int layers, const BlockSettings&, Rng&);
  Var operator()(Var X, const Heads& cut = {});  // block l records in the scope "layer l"
  void training(bool on);

 private:
  std::vector<EncoderSegment> segments_;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
