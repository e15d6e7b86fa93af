// What the scheduler knows about the block that is running; read by inspect.cpp and by the gdb script.
#pragma once
#include <cuda_runtime.h>

#include <string>
#include <vector>

namespace cuda_on_cpu {
enum class State : std::uint8_t { ready, at_barrier, at_warp, done };

struct AsyncCopy {
  void* to;
  const void* from;
  std::size_t bytes, zeros;
};

struct Thread {
  uint3 index{};        // its threadIdx
  unsigned linear = 0;  // its number in the block
  State state = State::done;
  Where where;        // the barrier or warp operation at which it waits
  unsigned mask = 0;  // the lanes it waits for
  bool predicate = false;
  unsigned bytes = 0;  // what it brings to a shuffle and what it takes away
  int source = -1;
  unsigned char in[8]{}, out[8]{};
  unsigned ballot = 0;
  unsigned barriers = 0, warp_syncs = 0;       // how many it has passed: orders memory accesses
  std::vector<std::vector<AsyncCopy>> copies;  // batches of asynchronous copies; the last one is still open
  void* stack_pointer = nullptr;               // where the fiber is parked
  char* stack = nullptr;                       // lowest address of its stack
};

inline constexpr std::size_t stack_bytes = 256 * 1024;  // virtual: pages are taken when touched
extern std::vector<Thread> threads;                     // the pool; the first `block_size` belong to the block
extern unsigned block_size;
extern Thread* current;  // null outside kernels
extern unsigned launch_number, block_number;

struct Observer {  // inspect.cpp sets these
  void (*launch_begin)() = nullptr;
  void (*block_begin)() = nullptr;
  void (*block_end)() = nullptr;
  void (*launch_end)() = nullptr;
  void (*touch)(const void*, unsigned bytes, bool write, bool atomic, void* pc) = nullptr;
  void (*allocated)(const void*, std::size_t) = nullptr;
  void (*freed)(const void*) = nullptr;
};
extern Observer observer;
std::string name_of(const Thread&);  // "(3,0,0)"
std::string place(const Where&);     // "softmax.cu:19"
std::string who_waits_where();
extern unsigned char* dynamic_shared;  // exactly as many bytes as the launch asked for, so that ASan sees the end
extern std::size_t dynamic_shared_bytes;
}  // namespace cuda_on_cpu
