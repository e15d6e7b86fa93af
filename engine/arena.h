// A bump allocator: memory is taken from the end of a block and given back all at once.
//
//   block 0  [ used used used | free .......... ]     take() moves the bar, rewind() moves it back.
//   block 1  [ .................................. ]     Blocks are kept, so a second training step
//                                                     makes no heap call at all.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

class Arena {
 public:
  struct Mark {
    std::size_t block = 0, used = 0, taken = 0;
  };

  explicit Arena(Backend& home) : home_(home) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* take(std::size_t bytes, std::size_t align) {  // align: a power of two up to 64
    std::size_t at = (used_ + align - 1) & ~(align - 1);
    if (at + bytes > now_.size || !now_.data) at = next_block(bytes);
    used_ = at + bytes;
    taken_ += bytes;
    return now_.data + at;
  }
  Mark mark() const { return {block_, used_, taken_}; }
  std::size_t taken() const { return taken_; }  // bytes asked for and not given back
  void rewind(Mark);              // debug builds fill what is given back with NaN
  std::size_t blocks() const { return all_.size(); }

 private:
  struct Block {
    char* data = nullptr;
    std::size_t size = 0;
  };
  std::size_t next_block(std::size_t bytes);  // the next one with so much room, or a new one; where it is free: at 0

  Backend& home_;
  std::vector<Block> all_;
  Block now_;  // all_[block_], once there is one
  std::size_t block_ = 0, used_ = 0, taken_ = 0;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
