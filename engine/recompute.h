// Gradient checkpointing: keep the inputs of a block, not what it computes inside; compute that again on the way back.
#pragma once

#include <vector>

#include "engine/params.h"
#include "engine/rng.h"
#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// A part of a computation that can be run again: some inputs, one output. Its layer owns it, and it must outlive the tape's
// last backward. It may not change anything but its generators: no caches, no counters.
struct Recomputable {
  virtual ~Recomputable() = default;
  virtual Var run(Tape&, const Var* in) = 0;                   // records it, on whatever tape it is given
  virtual Shape shape(const Var* in) const { return in[0].shape(); }  // of the output
  virtual void parameters(std::vector<Param*>&) const {}       // those that it uses
  virtual void generators(std::vector<Rng*>&) {}               // those that it draws from (dropout): put back for every run
};

//   Var y = recompute(block, in, n)       one line: y = block(in)
//
// forward    runs the block on an inner tape, keeps y, forgets the rest
// backward   runs it again, now recording, gives its output the gradient of y, and goes back through it
//
// The inner tape uses the gradient memory of the inputs and of the parameters themselves, so every sum is made in the
// same order as without recompute: the gradients are the same, bit for bit. Chen et al. 2016, "Training Deep Nets with
// Sublinear Memory Cost": n equal layers in segments of k keep about n/k + k values, least at k = √n, for one more forward.
// What data decided inside the block (a detached value, buckets) is decided again by a replay.

}  // namespace GLASS_PRECISION
}  // namespace glass
