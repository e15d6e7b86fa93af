#include "engine/hooks.h"

// The empty asm keeps the call: without it an optimiser would see that nothing happens.
extern "C" {
[[gnu::noinline]] void glass_step(const char* name, int index) {
  asm volatile("" : : "r"(name), "r"(index));  // a step is done: `lesson` goes to its variables, `continue` to the next
}

[[gnu::noinline]] void glass_nonfinite(const char* name, int id) {
  asm volatile("" : : "r"(name), "r"(id));  // the first NaN or infinity was just born: `up` shows where
}
}
