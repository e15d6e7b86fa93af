#include "tests/cuda/flash_problem.h"

#include <limits>

namespace glass {
inline namespace GLASS_PRECISION {

using Doubles = std::vector<double>;

FlashProblem::FlashProblem(FlashShape shape, std::uint64_t seed) : s(shape) {
  t.causal = s.causal, t.batch = s.batch, t.heads = s.heads, t.kv_heads = s.kv_heads, t.masks = s.masks;
  Rng rng(seed);
  Q = random_matrix({s.batch * s.n, s.heads * s.d}, rng);
  K = random_matrix({s.batch * s.m, s.kv_heads * s.d}, rng);
  V = random_matrix({s.batch * s.m, s.kv_heads * s.d_v}, rng);
  dY = random_matrix({s.batch * s.n, s.heads * s.d_v}, rng);
  dL = random_matrix({s.batch * s.n, s.heads}, rng);
  for (int i = 0; i < s.masks * s.keep_rows; ++i)
    for (int j = 0; j < s.m; ++j) keep.push_back((s.keep_rows == 1 || i % s.keep_rows != 1) && (7 * i + 3 * j) % 5 < 3);
  if (s.keep_rows) t.keep = {keep.data(), s.masks * s.keep_rows, s.m};
  solve();
}

bool FlashProblem::sees(int b, int i, int j) const {
  if (s.causal && j > i + s.m - s.n) return false;
  if (!s.keep_rows) return true;
  const int row = (s.masks > 1 ? b * s.keep_rows : 0) + (s.keep_rows == 1 ? 0 : i);
  return keep[std::size_t(row) * std::size_t(s.m) + std::size_t(j)] != 0;
}

// The whole matrix of weights of one head, and the textbook's gradients.
void FlashProblem::solve() {
  Y = Matrix(dY.shape()), L = Matrix(dL.shape()), D = Matrix(dL.shape());
  dQ = Matrix(Q.shape());
  Doubles dk(std::size_t(K.rows() * K.cols())), dv(std::size_t(V.rows() * V.cols()));
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      const int g = h / (s.heads / s.kv_heads);
      for (int i = 0; i < s.n; ++i) {
        const int row = b * s.n + i;
        Doubles A(std::size_t(s.m)), dA(std::size_t(s.m));
        double l = 0;
        for (int j = 0; j < s.m; ++j) {
          if (!sees(b, i, j)) continue;
          double dot = 0;
          for (int k = 0; k < s.d; ++k) dot += double(Q(row, h * s.d + k)) * double(K(b * s.m + j, g * s.d + k));
          l += A[std::size_t(j)] = std::exp(double(scale) * dot);
        }
        L(row, h) = l == 0 ? -std::numeric_limits<Real>::infinity() : Real(std::log(l));
        double mean = 0;  // Σ_j A_ij dA_ij
        for (int j = 0; j < s.m; ++j) {
          if (!sees(b, i, j)) continue;
          A[std::size_t(j)] /= l;
          for (int k = 0; k < s.d_v; ++k) dA[std::size_t(j)] += double(dY(row, h * s.d_v + k)) * double(V(b * s.m + j, g * s.d_v + k));
          mean += A[std::size_t(j)] * dA[std::size_t(j)];
        }
        D(row, h) = Real(mean - double(dL(row, h)));
        Doubles y(std::size_t(s.d_v)), dq(std::size_t(s.d));
        for (int j = 0; j < s.m; ++j) {
          const double a = A[std::size_t(j)], dE = double(scale) * a * (dA[std::size_t(j)] - mean + double(dL(row, h)));
          for (int k = 0; k < s.d_v; ++k) y[std::size_t(k)] += a * double(V(b * s.m + j, g * s.d_v + k));
          for (int k = 0; k < s.d_v; ++k) dv[std::size_t((b * s.m + j) * V.cols() + g * s.d_v + k)] += a * double(dY(row, h * s.d_v + k));
          for (int k = 0; k < s.d; ++k) dq[std::size_t(k)] += dE * double(K(b * s.m + j, g * s.d + k));
          for (int k = 0; k < s.d; ++k) dk[std::size_t((b * s.m + j) * K.cols() + g * s.d + k)] += dE * double(Q(row, h * s.d + k));
        }
        for (int k = 0; k < s.d_v; ++k) Y(row, h * s.d_v + k) = Real(y[std::size_t(k)]);
        for (int k = 0; k < s.d; ++k) dQ(row, h * s.d + k) = Real(dq[std::size_t(k)]);
      }
    }
  }
  dK = Matrix(K.shape()), dV = Matrix(V.shape());
  for (std::size_t k = 0; k < dk.size(); ++k) dK.view().data[k] = Real(dk[k]);
  for (std::size_t k = 0; k < dv.size(); ++k) dV.view().data[k] = Real(dv[k]);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
