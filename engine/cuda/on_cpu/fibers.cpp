// The scheduler: runs the blocks of a grid one after another, the threads of a block as fibers.
// GLASS_CUDA_ORDER=forward|reverse|<seed> picks the order in which ready threads (and blocks) run.
#include "device_memory.h"
#include "state.h"
#include "switch.h"

#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else  // plain builds: the annotations vanish
#define __sanitizer_start_switch_fiber(...) (void)0
#define __sanitizer_finish_switch_fiber(...) (void)0
#define __asan_unpoison_memory_region(...) (void)0
#endif

namespace cuda_on_cpu {
std::vector<Thread> threads;
unsigned block_size = 0, launch_number = 0, block_number = 0;
Thread* current = nullptr;
Observer observer;
unsigned char* dynamic_shared = nullptr;
std::size_t dynamic_shared_bytes = 0;

namespace {
void (*kernel)(void*) = nullptr;
void* kernel_context = nullptr;
void* scheduler_stack_pointer = nullptr;
unsigned arrived = 0, finished = 0, predicates = 0, last_count = 0;
unsigned waiting[32], alive[32];  // per warp: the lanes at a warp operation, the lanes that have not returned
[[gnu::init_priority(200)]] std::string failure;  // before static objects that a kernel fills

void fiber_main();

[[maybe_unused]] const void* scheduler_stack = nullptr;  // for ASan, learnt when a fiber is entered
[[maybe_unused]] std::size_t scheduler_stack_bytes = 0;

void resume(Thread& t) {
  current = &t;
  threadIdx = t.index;
  [[maybe_unused]] void* asan_state = nullptr;
  __sanitizer_start_switch_fiber(&asan_state, t.stack, stack_bytes);
  cuda_on_cpu_switch(&scheduler_stack_pointer, t.stack_pointer);
  __sanitizer_finish_switch_fiber(asan_state, nullptr, nullptr);
  current = nullptr;
}

void to_scheduler() {
  [[maybe_unused]] void* asan_state = nullptr;
  __sanitizer_start_switch_fiber(&asan_state, scheduler_stack, scheduler_stack_bytes);
  cuda_on_cpu_switch(&current->stack_pointer, scheduler_stack_pointer);
  __sanitizer_finish_switch_fiber(asan_state, &scheduler_stack, &scheduler_stack_bytes);
}

void add_threads(unsigned n) {
  while (threads.size() < n) {
    Thread t;
    void* memory =
        mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    t.stack = static_cast<char*>(memory);
    mprotect(t.stack, 4096, PROT_NONE);  // an overflow faults instead of corrupting a neighbour
    threads.push_back(t);
  }
}

// ------------------------------------------------------------------ meeting points
void release_block() {
  for (unsigned i = 0; i < block_size; ++i)
    if (threads[i].state == State::at_barrier) threads[i].state = State::ready, ++threads[i].barriers;
  arrived = 0;
  last_count = predicates;
  predicates = 0;
}

void try_release_warp(unsigned warp, unsigned mask) {
  Thread* lanes = &threads[warp * 32];
  const unsigned present = mask & alive[warp];
  if ((waiting[warp] & present) != present) return;
  unsigned ballot = 0;
  for (unsigned rest = present; rest; rest &= rest - 1) {
    const unsigned l = unsigned(std::countr_zero(rest));
    if (lanes[l].mask != mask) return;
    ballot |= unsigned(lanes[l].predicate) << l;
  }
  waiting[warp] &= ~present;
  for (unsigned rest = present; rest; rest &= rest - 1) {
    const unsigned l = unsigned(std::countr_zero(rest));
    Thread& t = lanes[l];
    t.state = State::ready;
    t.ballot = ballot;
    if (t.source == -1) ++t.warp_syncs;  // __syncwarp orders memory; shuffles and votes do not
    if (t.source < 0) continue;
    if (t.source > 31 || !(present >> t.source & 1))
      failure = "lane " + std::to_string(l) + " reads from lane " + std::to_string(t.source) +
                ", which does not take part in the shuffle, at " + place(t.where);
    else
      std::memcpy(t.out, lanes[t.source].in, t.bytes);
  }
}

void fiber_main() {
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_bytes);
  for (;;) {
    kernel(kernel_context);
    current->state = State::done;
    ++finished;
    const unsigned warp = current->linear / 32;
    alive[warp] &= ~(1u << current->linear % 32);
    for (unsigned i = warp * 32; i < std::min(block_size, warp * 32 + 32); ++i)
      if (threads[i].state == State::at_warp) try_release_warp(warp, threads[i].mask);
    to_scheduler();
  }
}
}  // namespace

int lane() { return int(current->linear % 32); }
void* dynamic_shared_memory() { return dynamic_shared; }
void note_atomic(const void* p, unsigned n) {
  if (observer.touch) observer.touch(p, n, true, true, __builtin_return_address(0));
}
float* warp_scratch() {
  static const auto scratch = std::make_unique<float[]>(32 * 512);
  return &scratch[current->linear / 32 * 512];
}
void async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) ||
      (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % bytes)
    fail("an asynchronous copy moves 4, 8 or 16 bytes, aligned to their size");
  if (observer.touch) observer.touch(from, unsigned(bytes - zeros), false, false, __builtin_return_address(0));
  if (observer.touch) observer.touch(to, unsigned(bytes), true, false, __builtin_return_address(0));
  if (current->copies.empty()) current->copies.emplace_back();
  current->copies.back().push_back({to, from, bytes, zeros});
}
void async_commit() { current->copies.emplace_back(); }
void async_wait(std::size_t batches_left) {
  auto& batches = current->copies;
  for (; batches.size() > batches_left + 1; batches.erase(batches.begin()))
    for (const AsyncCopy& c : batches.front()) {
      std::memcpy(c.to, c.from, c.bytes - c.zeros);
      std::memset(static_cast<char*>(c.to) + c.bytes - c.zeros, 0, c.zeros);
    }
}
void fail(std::string why) {  // the fiber never returns: moving leaves nothing behind to leak
  failure = std::move(why);
  std::string().swap(why);  // a move may have left it the memory of an earlier failure
  for (;;) to_scheduler();
}

void block_barrier(Where where) {
  Thread& me = *current;
  me.state = State::at_barrier;
  me.where = where;
  ++arrived;
  if (arrived == block_size) {
    for (unsigned i = 0; i < block_size; ++i)
      if (threads[i].where.line != where.line) fail("threads wait at different barriers:" + who_waits_where());
    release_block();
  }
  to_scheduler();
}

int block_count(bool predicate, Where where) {
  predicates += predicate;
  block_barrier(where);
  return int(last_count);  // safe: nobody can complete the next barrier before all have left this one
}

// (In a function of its own: what it joins must be gone before fail() leaves the fiber for good.)
static std::string not_in_its_mask(const Thread& t, Where where) {
  return "thread " + name_of(t) + " is not in its own mask at " + place(where);
}

unsigned warp_meet(unsigned mask, bool predicate, const void* in, void* out, unsigned bytes, int source, Where where) {
  Thread& me = *current;
  if (!(mask >> (me.linear % 32) & 1)) fail(not_in_its_mask(me, where));
  me.state = State::at_warp;
  waiting[me.linear / 32] |= 1u << me.linear % 32;
  me.mask = mask, me.where = where, me.predicate = predicate, me.bytes = bytes, me.source = source;
  if (bytes) std::memcpy(me.in, in, bytes);
  try_release_warp(me.linear / 32, mask);
  if (me.state != State::ready) to_scheduler();
  if (bytes) std::memcpy(out, me.out, bytes);
  return me.ballot;
}

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, void (*body)(void*), void* context) {
  const DeviceIsOpen open;
  const char* setting = std::getenv("GLASS_CUDA_ORDER");
  const std::string order_name = setting ? setting : "forward";
  std::minstd_rand random(unsigned(std::strtoul(order_name.c_str(), nullptr, 10)) + 1);
  const auto arrange = [&](std::vector<unsigned>& order) {
    if (order_name == "reverse")
      std::sort(order.rbegin(), order.rend());
    else if (order_name != "forward")
      std::shuffle(order.begin(), order.end(), random);
  };
  block_size = block.x * block.y * block.z;
  blockDim = block, gridDim = grid, kernel = body, kernel_context = context;
  add_threads(block_size);
  for (unsigned i = 0; i < block_size; ++i)
    threads[i].index = {i % block.x, i / block.x % block.y, i / (block.x * block.y)}, threads[i].linear = i;
  for (Thread& t : threads) {  // also clears up after a launch that failed halfway
    __asan_unpoison_memory_region(t.stack + 4096, stack_bytes - 4096);
    t.stack_pointer = first_frame(t.stack + stack_bytes, fiber_main);
  }
  std::vector<unsigned> blocks(grid.x * grid.y * grid.z), order(block_size);
  std::iota(blocks.begin(), blocks.end(), 0u);
  std::iota(order.begin(), order.end(), 0u);
  arrange(blocks);
  std::free(dynamic_shared);
  if (posix_memalign(reinterpret_cast<void**>(&dynamic_shared), 1024, dynamic_shared_bytes = shared_bytes))
    throw std::bad_alloc();
  ++launch_number;
  if (observer.launch_begin) observer.launch_begin();
  for (unsigned b : blocks) {
    block_number = b;
    blockIdx = {b % grid.x, b / grid.x % grid.y, b / (grid.x * grid.y)};
    std::memset(dynamic_shared, 0xFF, shared_bytes);  // NaN for floats: shared memory starts undefined
    arrived = finished = predicates = 0;
    failure.clear();
    for (unsigned w = 0; w < 32; ++w) {
      waiting[w] = 0;
      alive[w] = block_size >= 32 * w + 32 ? ~0u : block_size > 32 * w ? (1u << (block_size - 32 * w)) - 1 : 0;
    }
    for (unsigned i = 0; i < block_size; ++i) {
      threads[i].state = State::ready;
      threads[i].copies.clear();
      threads[i].barriers = threads[i].warp_syncs = 0;
    }
    if (observer.block_begin) observer.block_begin();
    while (finished < block_size) {
      bool progress = false;
      arrange(order);
      for (unsigned i : order) {
        if (threads[i].state != State::ready) continue;
        resume(threads[i]);
        progress = true;
        if (!failure.empty()) break;
      }
      if (failure.empty() && !progress) failure = "nobody can go on:" + who_waits_where();
      if (!failure.empty())
        throw KernelError("block (" + std::to_string(blockIdx.x) + "," + std::to_string(blockIdx.y) + "," +
                          std::to_string(blockIdx.z) + "): " + failure);
    }
    if (observer.block_end) observer.block_end();
  }
  if (observer.launch_end) observer.launch_end();
}
}  // namespace cuda_on_cpu
