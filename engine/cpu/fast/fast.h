// The fast kernels. Each file opens with its idea; the formulas and the shapes are those of the plain twin, engine/cpu/NAME.cpp.
//
// Every source in this folder is compiled once for each width of vector registers, 16, 32 and 64 bytes, into a namespace of its
// own (v16, v32, v64). Which of them runs is decided once, at the start, by what the processor can do: fast_cpu().
//
// Nothing here may leave an inline function behind that the linker could share with code for an older processor: what is used
// of other headers is plain data and pointers, and everything else is static or in the namespace (tests/fast_symbols.sh looks).
#pragma once

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

struct FastCpu final : CpuBackend {
  const char* name() const override;
  void matmul(Product, Mat a, Mat b, Mat c, bool accumulate) override;
  void softmax_rows(Mat x, Mat y) override;
  void softmax_rows_backward(Mat y, Mat dy, Mat dx) override;
  void rotate(Mat x, const Rotary&, Mat y) override;
  void rotate_back(Mat dy, const Rotary&, Mat dx) override;
  void flash_attention(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat S, Mat state, Mat Y, Mat L, Mat counts) override;
  void flash_attention_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat Y, Mat L, Mat dY, Mat dL, Mat D, Mat S, Mat dQ, Mat dK, Mat dV) override;
};

Backend& backend();

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
