#include "engine/arena.h"

#include <algorithm>

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr std::size_t kBlock = 1 << 20;  // 1 MiB

Arena::~Arena() {
  for (Block& b : all_) home_.free(b.data);
}

void* Arena::take(std::size_t bytes, std::size_t align) {
  used_ = (used_ + align - 1) & ~(align - 1);
  while (block_ < all_.size() && (used_ > all_[block_].size || all_[block_].size - used_ < bytes)) {
    ++block_;
    used_ = 0;
  }
  if (block_ == all_.size()) {
    const std::size_t size = std::max(kBlock, bytes);
    all_.reserve(all_.size() + 1);  // so that push_back cannot throw and leak the block
    all_.push_back({static_cast<char*>(home_.alloc(size)), size});
  }
  void* p = all_[block_].data + used_;
  used_ += bytes;
  taken_ += bytes;
  return p;
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
}

}  // namespace GLASS_PRECISION
}  // namespace glass
