// Counts the calls of the heap, wherever they come from: with glibc the program's own malloc and its kin come before the
// library's, and operator new calls them. Elsewhere operator new alone is counted.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "tests/bench/ours.h"

static std::atomic<long> calls{0}, bytes{0};

static void count(std::size_t n) {
  calls.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(long(n), std::memory_order_relaxed);
}

long bench::count_heap_calls() { return calls.load(std::memory_order_relaxed); }
long bench::count_heap_bytes() { return bytes.load(std::memory_order_relaxed); }

#ifdef __GLIBC__
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) {
  count(n);
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
  count(n * size);
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
  count(n);
  return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t align, std::size_t n) {
  count(n);
  return __libc_memalign(align, n);
}
int posix_memalign(void** p, std::size_t align, std::size_t n) {
  count(n);
  *p = __libc_memalign(align, n);
  return *p ? 0 : ENOMEM;
}
}
#else
void* operator new(std::size_t n) {
  count(n);
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif
