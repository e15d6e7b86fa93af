#include "engine/arena.h"

#include <algorithm>

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr std::size_t kLeast = 1 << 20, kMost = 64 << 20;  // 1 MiB is enough for a lesson

Arena::~Arena() {
  for (Block& b : all_) home_.free(b.data);
}

std::size_t Arena::next_block(std::size_t bytes) {
  std::size_t b = all_.empty() ? 0 : block_ + 1, total = 0;
  while (b < all_.size() && all_[b].size < bytes) ++b;
  if (b == all_.size()) {
    for (const Block& old : all_) total += old.size;
    const std::size_t size = std::max(bytes, std::clamp(total, kLeast, kMost));  // doubles: a large model has few blocks
    all_.reserve(b + 1);  // so that push_back cannot throw and leak the block
    all_.push_back({static_cast<char*>(home_.alloc(size)), size});
  }
  block_ = b;
  now_ = all_[b];
  return 0;
}

void Arena::rewind(Mark to) {
#ifndef NDEBUG
  for (std::size_t b = to.block; b <= block_ && b < all_.size(); ++b) {
    const std::size_t from = b == to.block ? to.used : 0, end = b == block_ ? used_ : all_[b].size;
    home_.poison(all_[b].data + from, end - from);
  }
#endif
  block_ = to.block;
  used_ = to.used;
  taken_ = to.taken;
  if (!all_.empty()) now_ = all_[block_];
}

}  // namespace GLASS_PRECISION
}  // namespace glass
