// Large memory in pages of 2 MiB instead of 4 KiB: one page fault for 512, and an address is found faster.
#pragma once

#include <cstddef>

namespace glass {

void prefer_huge_pages(void* p, std::size_t bytes);  // a wish: the system may ignore it

}  // namespace glass
