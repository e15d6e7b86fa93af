#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The state [S z] has D x (d_v + 1) entries. They do not meet, so each runs along the sequence alone, in one double:
// neither the state nor an n x m matrix is kept anywhere. Column d_v is z, as if each value ended with a 1.

static Real value_of(Mat V, int j, int c) { return c < V.cols ? V(j, c) : Real(1); }

// The number of keys that query t has in its state.
static int seen_by(int t, int n, int m, int lag) { return t + m - n - lag + 1; }

void CpuBackend::causal_sums(Mat a, Mat b, Mat V, int lag, Mat Y) {
  fill(Y, 0);
  for (int r = 0; r < a.cols; ++r) {
    for (int c = 0; c < Y.cols; ++c) {
      double S = 0;  // S_rc, or z_r
      for (int t = 0, j = 0; t < a.rows; ++t) {
        for (; j < seen_by(t, a.rows, b.rows, lag); ++j) S += double(b(j, r)) * double(value_of(V, j, c));
        Y(t, c) += Real(double(a(t, r)) * S);
      }
    }
  }
}

// da_t = S_t dY_t needs S forward in time; db_j = R_j [v_j 1] and dV_j = R_jᵀ b_j need R_j = Σ a_t dY_tᵀ over the
// queries that have seen key j, so R grows backward in time.
void CpuBackend::causal_sums_backward(Mat a, Mat b, Mat V, int lag, Mat dY, Mat da, Mat db, Mat dV) {
  for (int r = 0; r < a.cols; ++r) {
    for (int c = 0; c < dY.cols; ++c) {
      double S = 0, R = 0;
      for (int t = 0, j = 0; t < a.rows && da.data; ++t) {
        for (; j < seen_by(t, a.rows, b.rows, lag); ++j) S += double(b(j, r)) * double(value_of(V, j, c));
        da(t, r) += Real(S * double(dY(t, c)));
      }
      for (int j = b.rows - 1, t = a.rows - 1; j >= 0; --j) {
        for (; t >= 0 && j < seen_by(t, a.rows, b.rows, lag); --t) R += double(a(t, r)) * double(dY(t, c));
        if (db.data) db(j, r) += Real(R * double(value_of(V, j, c)));
        if (dV.data && c < V.cols) dV(j, c) += Real(R * double(b(j, r)));
      }
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
