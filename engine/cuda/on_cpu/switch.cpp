// Leaves one stack for another: what a fiber is made of. The registers that a function must keep are pushed on the
// stack that is left and popped from the one that is entered; it returns by a jump, so that the processor's guess of
// returns is not confused.
#include "switch.h"

#include <algorithm>

namespace cuda_on_cpu {

#if defined(__x86_64__)
asm(R"(
.text
.globl cuda_on_cpu_switch
.type cuda_on_cpu_switch,@function
cuda_on_cpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
.size cuda_on_cpu_switch,.-cuda_on_cpu_switch
)");
void* first_frame(char* top, void (*entry)()) {
  void** sp = reinterpret_cast<void**>(top);
  *--sp = nullptr;  // where a return address would be: ends backtraces
  *--sp = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--sp = nullptr;  // rbp rbx r12 r13 r14 r15
  return sp;
}
#elif defined(__aarch64__)
asm(R"(
.text
.globl cuda_on_cpu_switch
.type cuda_on_cpu_switch,%function
cuda_on_cpu_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size cuda_on_cpu_switch,.-cuda_on_cpu_switch
)");
void* first_frame(char* top, void (*entry)()) {
  void** sp = reinterpret_cast<void**>(top) - 20;
  std::fill_n(sp, 20, nullptr);
  sp[11] = reinterpret_cast<void*>(entry);  // x30, the link register
  return sp;
}
#else
#error "add a stack switch for this processor (or use boost::context)"
#endif

}  // namespace cuda_on_cpu
