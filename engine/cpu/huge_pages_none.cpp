#include "engine/cpu/huge_pages.h"

namespace glass {

void prefer_huge_pages(void*, std::size_t) {}

}  // namespace glass
