#include <sys/mman.h>

#include <cstdint>

#include "engine/cpu/huge_pages.h"

namespace glass {

void prefer_huge_pages(void* p, std::size_t bytes) {
  constexpr std::uintptr_t kHuge = 2 << 20;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(p), from = (first + kHuge - 1) & ~(kHuge - 1), to = (first + bytes) & ~(kHuge - 1);
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

}  // namespace glass
