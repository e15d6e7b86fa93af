// The warp matrix functions (tensor cores) for cuda_on_cpu.  Lane l holds elements 8l..8l+7 of a 16x16 tile; which
// lane holds what is unspecified in CUDA as well, so a correct kernel cannot tell the difference.
#pragma once
#include "cuda_bf16.h"

namespace nvcuda::wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(M == 16 && N == 16 && K == 16, "only 16x16x16 so far");
  static constexpr int num_elements = 8;
  T x[num_elements];
};
namespace detail {
inline int row(int i) { return (cuda_on_cpu::lane() * 8 + i) / 16; }
inline int col(int i) { return (cuda_on_cpu::lane() * 8 + i) % 16; }
inline void check(const void* p, unsigned ldm, std::size_t size) {
  if (reinterpret_cast<std::uintptr_t>(p) % 32 || ldm * size % 16)
    cuda_on_cpu::fail("wmma: the tile must be 32-byte aligned, its rows a multiple of 16 bytes");
}
}  // namespace detail

template <class F, class T>
void fill_fragment(F& f, T v) {
  for (auto& e : f.x) e = v;
}
template <class Use, class T, class Layout>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& f, const T* p, unsigned ldm,
                      CudaWhere w = CudaWhere::current()) {
  detail::check(p, ldm, sizeof(T));
  for (int i = 0; i < 8; ++i)
    f.x[i] = std::is_same_v<Layout, row_major> ? p[detail::row(i) * ldm + detail::col(i)]
                                               : p[detail::col(i) * ldm + detail::row(i)];
  __syncwarp(~0u, w);
}
template <class T>
void store_matrix_sync(T* p, const fragment<accumulator, 16, 16, 16, T>& f, unsigned ldm, layout_t layout,
                       CudaWhere w = CudaWhere::current()) {
  detail::check(p, ldm, sizeof(T));
  for (int i = 0; i < 8; ++i)
    (layout == mem_row_major ? p[detail::row(i) * ldm + detail::col(i)] : p[detail::col(i) * ldm + detail::row(i)]) =
        f.x[i];
  __syncwarp(~0u, w);
}
template <class T, class LA, class LB, class C>
void mma_sync(fragment<accumulator, 16, 16, 16, C>& d, const fragment<matrix_a, 16, 16, 16, T, LA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LB>& b, const fragment<accumulator, 16, 16, 16, C>& c,
              CudaWhere w = CudaWhere::current()) {
  float *ta = cuda_on_cpu::warp_scratch(), *tb = ta + 256;
  for (int i = 0; i < 8; ++i)
    ta[cuda_on_cpu::lane() * 8 + i] = float(a.x[i]), tb[cuda_on_cpu::lane() * 8 + i] = float(b.x[i]);
  __syncwarp(~0u, w);
  for (int i = 0; i < 8; ++i) {
    float sum = float(c.x[i]);
    for (int k = 0; k < 16; ++k) sum += ta[detail::row(i) * 16 + k] * tb[k * 16 + detail::col(i)];
    d.x[i] = C(sum);
  }
  __syncwarp(~0u, w);
}
}  // namespace nvcuda::wmma
