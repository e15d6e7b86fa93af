#include "device_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace cuda_on_cpu {

#if defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
static constexpr bool kFenced = false;
#else
static constexpr bool kFenced = true;
#endif

// One range of addresses, taken from its start; what is freed waits for a request of the same size.
static char *fence_begin, *fence_end, *fence_limit;
static std::map<std::size_t, std::vector<void*>> idle;
static std::map<void*, std::size_t> sizes;
static int open_count;

static void explain(int, siginfo_t* info, void*) {
  const char* at = static_cast<char*>(info->si_addr);
  if (at >= fence_begin && at < fence_end) {
    static const char text[] = "the host touched memory of the device: use to_host(), from_host() or a HostView\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(139);
  }
  signal(SIGSEGV, SIG_DFL);  // the instruction runs again, and a debugger or a core file shows it
}

static bool reserve() {
  constexpr std::size_t kRange = std::size_t(64) << 30;  // addresses, not memory
  void* range = mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  fence_begin = fence_end = static_cast<char*>(range);
  fence_limit = fence_begin + kRange;
  struct sigaction action {};
  action.sa_sigaction = explain;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  return true;
}

static void protect() {
  if (fence_end > fence_begin)
    mprotect(fence_begin, std::size_t(fence_end - fence_begin), open_count ? PROT_READ | PROT_WRITE : PROT_NONE);
}

DeviceIsOpen::DeviceIsOpen() {
  if (kFenced && open_count++ == 0) protect();
}
DeviceIsOpen::~DeviceIsOpen() {
  if (kFenced && --open_count == 0) protect();
}

static void* fenced_alloc(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  bytes = (bytes + kPage - 1) / kPage * kPage;
  std::vector<void*>& same = idle[bytes];
  if (!same.empty()) {
    void* p = same.back();
    same.pop_back();
    return p;
  }
  if (!fence_begin && !reserve()) return nullptr;
  if (bytes > std::size_t(fence_limit - fence_end)) return nullptr;
  void* p = fence_end;
  fence_end += bytes;
  sizes[p] = bytes;
  return p;
}

void* device_alloc(std::size_t bytes) {
  if (bytes == 0) bytes = 1;
  void* p = nullptr;
  if (bytes >> 40) return nullptr;  // a terabyte: more than any GPU has, and a sanitizer stops a program that asks for it
  if (kFenced) {
    p = fenced_alloc(bytes);
  } else if (posix_memalign(&p, 256, bytes)) {
    return nullptr;
  }
  if (!p) return nullptr;
  const DeviceIsOpen open;
  protect();
  std::memset(p, 0xff, bytes);
  return p;
}

void device_free(void* p) {
  if (!p) return;
  kFenced ? idle[sizes[p]].push_back(p) : std::free(p);
}

}  // namespace cuda_on_cpu
