// Asynchronous copies from global to shared memory.  Here a copy happens as late as is allowed, at the wait:
// a kernel that forgets to wait reads stale data on the CPU too.
#pragma once
#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  cuda_on_cpu::async_copy(to, from, bytes, zeros);
}
inline void __pipeline_commit() { cuda_on_cpu::async_commit(); }
inline void __pipeline_wait_prior(std::size_t batches_left) { cuda_on_cpu::async_wait(batches_left); }
