#include "tests/layers/variant_grid.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

namespace glass {
inline namespace GLASS_PRECISION {

HeadsRun::HeadsRun(const Variant& variant, const Matrix& q, const Matrix& k, const Matrix& v, const Heads& cut, const Matrix& dY) {
  Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  Y = multi_head(Q, K, V, cut, variant);
  tape.backward(Y, dY);
}

enum class Hidden { nothing, future, padding, both, scattered };

static Mask make_mask(Hidden kind, int n, int m, Rng& rng) {
  std::vector<bool> keys(std::size_t(m), true);
  keys[std::size_t(kind == Hidden::both ? 0 : m - 1)] = m == 1 && kind == Hidden::both;  // with one key: nothing left to see
  if (kind == Hidden::nothing) return Mask(n, m);
  if (kind == Hidden::future) return Mask::causal(n, m);
  if (kind == Hidden::padding) return Mask::visible(keys, n);
  if (kind == Hidden::both) return Mask::causal(n, m) & Mask::visible(keys, n);
  Mask mask(n, m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) mask.set(i, j, rng.uniform() < 0.5);
  return mask;
}

static bool supported(const Supports& can, const Mask& mask) {
  if (!can.lengths && mask.queries() != mask.keys()) return false;
  if (mask.hides_nothing()) return true;
  if (mask.is_padding()) return can.padding;
  return mask.is_causal() ? can.causal : can.any_mask;
}

static bool sees_nothing(const Mask& mask, int query) {
  for (int j = 0; j < mask.keys(); ++j)
    if (mask(query, j)) return false;
  return true;
}

// Values and gradients of one configuration.
static void check_run(const Variant& variant, const Grid& grid, const Heads& cut, int n, int m, Rng& rng) {
  const int B = cut.batch, h = cut.heads, g = cut.groups();
  const Matrix q = random_matrix({B * n, h * grid.d}, rng), k = random_matrix({B * m, g * grid.d}, rng);
  const Matrix v = random_matrix({B * m, g * grid.d_v}, rng), dY = random_matrix({B * n, h * grid.d_v}, rng);
  HeadsRun run(variant, q, k, v, cut, dY);
  for (Var x : {run.Q, run.K, run.V}) {
    const GradGap gap = gradient_gap(run.tape, run.Y, dY, x);
    INFO("gradient of " << run.tape.node(x).name << ": " << gap.worst << " at " << gap.row << ", " << gap.col);
    CHECK(gap.ok());
  }
  if (grid.same_as_plain) {
    HeadsRun steps(plain_attention, q, k, v, cut, dY);
    CHECK(difference(run.Y.value(), steps.Y.value(), kRounding) == "");
    CHECK(difference(run.Q.grad(), steps.Q.grad(), kRounding) == "");
    CHECK(difference(run.K.grad(), steps.K.grad(), kRounding) == "");
    CHECK(difference(run.V.grad(), steps.V.grad(), kRounding) == "");
  }
  for (int b = 0; b < B && cut.mask && grid.empty_rows; ++b) {
    for (int i = 0; i < n; ++i) {
      if (!sees_nothing(*cut.mask_of(b), i)) continue;
      CHECK(all_zero(run.Y.value().block(b * n + i, 0, 1, run.Y.shape().cols)));
      CHECK(all_zero(run.Q.grad().block(b * n + i, 0, 1, run.Q.shape().cols)));
    }
  }
}

// Keys that nobody sees may hold anything, and the last token may change, without one bit of the other rows moving.
static void check_what_must_not_matter(const Variant& variant, const Grid& grid, Rng& rng) {
  const int n = 7;
  const Matrix q = random_matrix({n, grid.d}, rng), k = random_matrix({n, grid.d}, rng), v = random_matrix({n, grid.d_v}, rng);
  const Matrix dY = random_matrix({n, grid.d_v}, rng);
  Matrix other_k(k), other_v(v), other_q(q);
  for (int c = 0; c < grid.d; ++c) other_k(n - 1, c) = 3 - k(n - 1, c), other_q(n - 1, c) = 2 - q(n - 1, c);
  for (int c = 0; c < grid.d_v; ++c) other_v(n - 1, c) = 5 + v(n - 1, c);
  if (variant.supports().padding) {
    std::vector<bool> keys(n, true);
    keys[n - 1] = false;
    const Mask mask = Mask::visible(keys, n);
    const Heads cut{.mask = &mask};
    HeadsRun a(variant, q, k, v, cut, dY), b(variant, q, other_k, other_v, cut, dY);
    CHECK(bit_difference(a.Y.value(), b.Y.value()) == "");
    CHECK(bit_difference(a.Q.grad(), b.Q.grad()) == "");
    CHECK(all_zero(b.K.grad().block(n - 1, 0, 1, grid.d)));
    CHECK(all_zero(b.V.grad().block(n - 1, 0, 1, grid.d_v)));
  }
  if (variant.supports().causal) {
    const Mask mask = Mask::causal(n, n);
    const Heads cut{.mask = &mask};
    HeadsRun a(variant, q, k, v, cut, dY), b(variant, other_q, other_k, other_v, cut, dY);
    CHECK(bit_difference(a.Y.value().block(0, 0, n - 1, grid.d_v), b.Y.value().block(0, 0, n - 1, grid.d_v)) == "");
    CHECK(bit_difference(a.Y.value().block(n - 1, 0, 1, grid.d_v), b.Y.value().block(n - 1, 0, 1, grid.d_v)) != "");
  }
}

void check_variant(const Variant& variant, const Grid& grid) {
  Rng rng(grid.seed);
  struct Cut {
    int batch, heads, kv_heads;
  };
  for (const Hidden kind : {Hidden::nothing, Hidden::future, Hidden::padding, Hidden::both, Hidden::scattered}) {
    for (const int n : grid.lengths) {
      for (const int m : grid.lengths) {
        for (const Cut c : {Cut{1, 1, 1}, Cut{2, 2, 1}, Cut{1, 4, 2}}) {
          if (c.batch * c.heads > 1 && n != m && n != grid.lengths.back()) continue;  // the corners are enough
          CAPTURE(variant.name(), int(kind), n, m, c.batch, c.heads, c.kv_heads);
          std::vector<Mask> masks;
          bool can = true;
          for (int b = 0; b < c.batch; ++b) {
            masks.push_back(make_mask(kind, n, m, rng));
            can = can && supported(variant.supports(), masks.back());
          }
          Heads cut{.batch = c.batch, .heads = c.heads, .kv_heads = c.kv_heads};
          if (kind != Hidden::nothing) cut.mask = masks.data(), cut.mask_each = true;
          if (can) {
            check_run(variant, grid, cut, n, m, rng);
          } else {
            const Matrix q = random_matrix({n, grid.d}, rng), k = random_matrix({m, grid.d}, rng), v = random_matrix({m, grid.d_v}, rng);
            Tape tape;
            for (const Mask& mask : masks) {
              if (supported(variant.supports(), mask)) continue;
              CHECK_THROWS_AS(variant(tape.input(q, "Q"), tape.input(k, "K"), tape.input(v, "V"), {.allowed = &mask}), ShapeError);
            }
          }
        }
      }
    }
  }
  check_what_must_not_matter(variant, grid, rng);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
