// Functions for a debugger to stop at. They are empty and never inlined.
//
//   (gdb) break glass_step if $_streq(name, "Weights")
//   (gdb) break glass_nonfinite
#pragma once

extern "C" {
void glass_step(const char* name, int index);   // a lesson has just shown a step
void glass_nonfinite(const char* name, int id); // the first NaN or infinity was just born in line `id` of a tape
}
