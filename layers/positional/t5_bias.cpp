#include "layers/positional/t5_bias.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/errors.h"
#include "engine/ops.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

static int checked(int buckets, bool both_ways) {  // before the table is made
  if (buckets >= 4 && buckets % (both_ways ? 4 : 2) == 0) return buckets;
  throw InputError("t5 bias: " + std::to_string(buckets) + " buckets cannot be halved " +
                   (both_ways ? "twice" : "once"));
}

int t5_bucket(int ahead, bool both_ways, int buckets, int farthest) {
  const int all = both_ways ? buckets / 2 : buckets, near = all / 2;
  if (farthest <= near)
    throw InputError("t5 bias: the farthest distance (" + std::to_string(farthest) + ") must be above " +
                     std::to_string(near));
  const int n = both_ways ? std::abs(ahead) : std::max(-ahead, 0), start = both_ways && ahead > 0 ? all : 0;
  if (n < near) return start + n;
  // log2, because it is exact where a range begins at a power of two: with ln, rounding would have to be trusted there
  const double steps = std::log2(double(n) / near) / std::log2(double(farthest) / near) * (all - near);
  return start + std::min(all - 1, near + int(steps));
}

T5Bias::T5Bias(ParamStore& store, const std::string& name, int heads, bool both, Rng& rng, int buckets, int far)
    : table(&store.make(name, {checked(buckets, both), heads}, Init::xavier, rng)), both_ways(both), farthest(far) {}

Var T5Bias::attend(Var Q, Var K, Var V, const Call& call) const {
  const int n = Q.shape().rows, m = K.shape().rows, buckets = table->value.rows(), heads = table->value.cols();
  if (call.head >= heads) {
    throw ShapeError("t5 attention: head " + std::to_string(call.head) + " has no column in the table \"" +
                     table->name + "\" of " + to_text(buckets, heads));
  }
  std::vector<int> places;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      places.push_back(t5_bucket(j - (i + m - n), both_ways, buckets, farthest) * heads + call.head);
  const Var S = matmul_nt(Q, hide_keys(K, call.allowed)).named("S");
  const Var bias = gather_entries(Q.tape->use(*table), places.data(), {n, m}).named("bias");
  return mix(add(S, bias).named("S biased"), hide_keys(V, call.allowed), call);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
