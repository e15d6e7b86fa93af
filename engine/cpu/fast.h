// The fast CPU backend: the kernels of engine/cpu/fast/ where there is one, the plain loops of engine/cpu/ for the rest.
// A program that wants it links glass_fast_f32 (or _f64) and says so:
//
//   Tape tape(fast_cpu());            one tape, or
//   choose_cpu(fast_cpu());           everything from here on; GLASS_KERNELS=fast in the environment does the same
#pragma once

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

Backend& fast_cpu();                    // for the widest vectors that this processor has; GLASS_VECTORS=16, 32 or 64 (bytes) asks for less
Backend* fast_cpu(int vector_bytes);    // nullptr: not built, or not for this processor

}  // namespace GLASS_PRECISION
}  // namespace glass
