// The flash kernels under the watcher: no race, no unwritten read, and what each line costs.
#include "tests/catch.h"
#include "tests/cuda/flash_problem.h"
#include "tests/cuda/watcher.h"

using namespace glass;

// More than one tile of queries and of keys for each version, and everything that a kernel can be asked for.
static const FlashShape kAll{66, 70, 64, 64, 1, 2, 1, true, 66, 1};
static const FlashShape kSmall{34, 36, 9, 5, 1, 2, 1, true, 34, 1};
static const FlashShape kPlain{64, 64, 64, 64}, kPlainSmall{32, 32, 32, 32};

static void forward(CudaBackend& be, int version, const FlashShape& s) {
  const FlashProblem p(s, 31);
  const Placed Q(be, p.Q), K(be, p.K), V(be, p.V), Y(be, p.dY), L(be, p.dL), counts(be, Matrix({{0, 0}}));
  cuda_on_cpu::forget_accesses();
  flash_forward(version, Q, K, V, p.scale, p.t, Y, L, counts, be.stream);
}
static void backward(CudaBackend& be, int version, const FlashShape& s) {
  const FlashProblem p(s, 32);
  const Placed Q(be, p.Q), K(be, p.K), V(be, p.V), Y(be, p.Y), L(be, p.L), D(be, p.dL), dL(be, p.dL), dY(be, p.dY);
  const Placed dQ(be, p.Q), dK(be, p.K), dV(be, p.V);
  flash_row_sums(Y, dY, dL, D, be.stream);
  cuda_on_cpu::forget_accesses();
  flash_backward(version, Q, K, V, p.scale, p.t, L, D, dY, dQ, dK, dV, be.stream);
}

TEST_CASE("flash kernels have no race") {
  CudaBackend be;
  CHECK_NOTHROW(forward(be, 1, kSmall));
  CHECK_NOTHROW(forward(be, 2, {66, 36, 9, 5, 1, 2, 1, true, 66, 1}));
  CHECK_NOTHROW(forward(be, 3, kAll));
  CHECK_NOTHROW(forward(be, 4, kAll));
  CHECK_NOTHROW(backward(be, 1, kSmall));
  CHECK_NOTHROW(backward(be, 2, kSmall));
}

// Version 1 reads and writes rows that are far apart; from version 2 on shared memory has no conflict and what is read comes in
// whole sectors. Version 3 still writes Y four columns apart, half a sector at a time.
TEST_CASE("flash forward: each version costs what it should") {
  CudaBackend be;
  forward(be, 1, kPlainSmall);
  CHECK(traffic("dot += Q(i, k) * K(j, k)", false, false).cost == 32 * 32 * (32 + 1));  // keys, width; a lane's own Q, one K for all
  forward(be, 2, kPlain);
  CHECK(slow_lines() == "");
  CHECK(traffic("P[c] += q_a * k[c * x.d + a]", true, false).cost == 2 * 2 * 64 * 32);  // warps, tiles, width, keys
  CHECK(traffic("to[r * pitch + c] =", false, false).cost == 3 * 64 * 64 / 8);          // Q, K and V once
  forward(be, 3, kPlain);
  CHECK(slow_lines() == "flash.cu global write 8.00 sectors, best 4.00: for (int k = 0; k < D / kTeam; ++k) Y(i, lane + kTeam * k) = "
                        "l == 0 ? 0 : acc[k] / l;\n");
  CHECK(traffic("dot += s.q[r][a]", true, false).cost == 2 * 2 * 4 * 8 * 64 * 2);  // blocks, tiles, warps, keys, width, q and k
  CHECK(traffic("acc[k] += p * s.v[c]", true, false).cost == 2 * 2 * 4 * 32 * 16);  // blocks, tiles, warps, keys, columns
  CHECK(traffic("to[r * pitch + c] =", false, false).cost == (1 + 2 * 2) * 64 * 64 / 8);  // Q; K and V for each block
  forward(be, 4, kPlain);
  CHECK(slow_lines() == "");
  // scores and weighted sums, warps, steps of four columns or keys, reads of four floats, passes: a third of version 3
  CHECK(traffic("reinterpret_cast<const float4*>(from)", true, false).cost == 2 * 8 * 16 * 8 * 4);
}

TEST_CASE("flash backward: each version costs what it should") {
  CudaBackend be;
  backward(be, 1, kPlainSmall);
  CHECK(traffic("dQ(i, k) += dE", false, true).cost == 32 * 32 * 32);
  backward(be, 2, kPlainSmall);
  CHECK(slow_lines() == "");
}

// ldmatrix and mma.sync are left out of the counts, asynchronous copies are in. Y leaves in pieces of 16 bytes of each row, half
// a sector.
TEST_CASE("flash on tensor cores: no race, and whole sectors") {
  CudaBackend be;
  const int n = 64, m = 66;
  Matrix q(Shape{n, 64}, &be), k(Shape{m, 64}, &be), l(Shape{n, 1}, &be);
  be.fill(q, 1);
  be.fill(k, Real(0.5));
  be.fill(l, 0);
  HalfMat Q{static_cast<__nv_bfloat16*>(be.alloc(n * 128)), n, 64, 64}, K{static_cast<__nv_bfloat16*>(be.alloc(m * 128)), m, 64, 64};
  HalfMat Y{static_cast<__nv_bfloat16*>(be.alloc(n * 128)), n, 64, 64};
  to_half(q, Q, be.stream);
  to_half(k, K, be.stream);
  const Matrix dQ(Shape{n, 64}, &be), dK(Shape{m, 64}, &be), dV(Shape{m, 64}, &be);
  cuda_on_cpu::forget_accesses();
  CHECK_NOTHROW(flash_tensor(Q, K, K, 1, {.causal = true}, Y, l, be.stream));
  CHECK(slow_lines() == "flash_tensor.cu global write 8.00 sectors, best 4.00: *to = tensor::pack(acc[d][2 * r] * over, acc[d][2 * r + 1] * over);\n");
  CHECK_NOTHROW(flash_tensor_backward(Q, K, K, Real(0.1), {.causal = true}, l, l, Q, dQ, dK, dV, be.stream));
  for (HalfMat x : {Q, K, Y}) be.free(x.data);
}
