// The same kernel on the CPU's plain loops and on the CUDA backend, with the same numbers.
#pragma once

#include <string>
#include <vector>

#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"
#include "tests/compare.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct TwinCase {
  const char* name;
  // One letter for each operand: m R x C, t C x R, r 1 x C, c R x 1, s 1 x 1; all are compared, so an input must stay
  // as it was
  const char* operands;
  void (*run)(Backend&, const Mat* v);
  bool to_the_bit = false;  // nothing but one rounding for each number: the same bits on both
};

// Empty if both agree, for operands that are blocks of larger matrices (`views`) or have memory of their own; around a
// block nothing may change. Some numbers are 0, so that rules for no gradient show.
std::string twin_difference(CudaBackend&, const TwinCase&, Shape, bool views);

// {1, odd, one less than a warp or tile, as large, one more, larger}
const std::vector<Shape>& twin_shapes();

// As long as it lives, threads and blocks run in this order: "forward", "reverse" or a seed.
class ThreadOrder {
 public:
  explicit ThreadOrder(const std::string& order);
  ~ThreadOrder();

 private:
  std::string before_;
  bool had_;
};

// Ints and masks on the device, for as long as it lives.
template <class T>
class OnDevice {
 public:
  OnDevice(CudaBackend& be, const std::vector<T>& host) : be_(be), n_(host.size()) {
    data_ = static_cast<T*>(be.alloc(n_ * sizeof(T)));
    be.upload(host.data(), data_, n_ * sizeof(T));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { be_.free(data_); }
  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> v(n_);
    be_.stream.wait();
    if (n_) check(cudaMemcpy(v.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }

 private:
  CudaBackend& be_;
  std::size_t n_;
  T* data_;
};

Matrix on_device(CudaBackend&, Mat host);
Matrix to_host(CudaBackend&, Mat device);

}  // namespace GLASS_PRECISION
}  // namespace glass
