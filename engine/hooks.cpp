#include "engine/hooks.h"

// The empty asm keeps the call and its arguments: without it an optimiser would see that nothing happens.
extern "C" {
[[gnu::noinline]] void glass_step(const char* name, int index) { asm volatile("" : : "r"(name), "r"(index) : "memory"); }
[[gnu::noinline]] void glass_nonfinite(const char* name, int id) { asm volatile("" : : "r"(name), "r"(id) : "memory"); }
}
