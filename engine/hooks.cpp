#include "engine/hooks.h"

// The empty asm keeps the call: without it an optimiser would see that nothing happens.
extern "C" {
GlassQuestion glass_question;

[[gnu::noinline]] void glass_answer(const char* text) { asm volatile("" : : "r"(text)); }

[[gnu::noinline]] void glass_step(const char* name, int index) {
  asm volatile("" : : "r"(name), "r"(index));  // a step is done: `lesson` goes to its variables, `continue` to the next
  while (glass_question.ask) {
    const GlassQuestion q = glass_question;
    glass_question.ask = nullptr;
    glass_answer(q.ask(q.tape, q.n[0], q.n[1], q.n[2], q.n[3]));
  }
}

[[gnu::noinline]] void glass_nonfinite(const char* name, int id) {
  asm volatile("" : : "r"(name), "r"(id));  // the first NaN or infinity was just born: `up` shows where
}
}
