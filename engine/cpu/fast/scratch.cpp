#include "engine/cpu/fast/scratch.h"

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

namespace {
struct Block {
  Real* data = nullptr;
  std::size_t size = 0;
  ~Block() { cpu_backend().free(data); }
};
}  // namespace

Real* thread_scratch(std::size_t numbers) {
  static thread_local Block block;
  if (block.size < numbers) {
    cpu_backend().free(block.data);
    block.data = nullptr;
    block.size = 0;
    block.data = static_cast<Real*>(cpu_backend().alloc(numbers * sizeof(Real)));
    block.size = numbers;
  }
  return block.data;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
