#include "engine/cpu/fast/scratch.h"

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr std::size_t kHuge = 2 << 20;

namespace {
struct Block {
  Real* data = nullptr;
  std::size_t size = 0;
  ~Block() { cpu_backend().free(data); }
};
}  // namespace

Real* thread_scratch(Scratch who, std::size_t numbers) {
  static thread_local Block blocks[std::size_t(Scratch::count)];
  Block& block = blocks[std::size_t(who)];
  if (block.size < numbers) {
    cpu_backend().free(block.data);
    block.data = nullptr;
    block.size = 0;
    std::size_t bytes = numbers * sizeof(Real);
    if (bytes > kHuge / 4) bytes = (bytes + kHuge - 1) / kHuge * kHuge;  // whole huge pages: a product is a tenth faster on them
    block.data = static_cast<Real*>(cpu_backend().alloc(bytes));
    block.size = bytes / sizeof(Real);
  }
  return block.data;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
