// Functions for a debugger to stop at. They are empty and never inlined.
//
//   (gdb) break glass_step if $_streq(name, "Weights")
//   (gdb) break glass_nonfinite
#pragma once

extern "C" {
void glass_step(const char* name, int index);   // a lesson has just shown a step
void glass_nonfinite(const char* name, int id); // the first NaN or infinity was just born in line `id` of a tape

// A debugger's question. It is written into memory while the program waits in glass_step, which answers it before it returns: in
// this way also a gdb that cannot call functions (before 14, on processors with AMX) gets an answer. engine/debug/calls.h has them.
struct GlassQuestion {
  const char* (*ask)(void* tape, int, int, int, int);
  void* tape;
  int n[4];
};
extern struct GlassQuestion glass_question;
void glass_answer(const char* text);  // where the debugger stops to read it
}
