#include "layers/attention/streaming.h"

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::vector<int> streaming_keys(int t, int sinks, int window) {
  if (t < 0 || sinks < 0 || window < 1) {
    throw InputError("streaming_keys: query " + std::to_string(t) + ", " + std::to_string(sinks) + " sinks and a window of " + std::to_string(window) +
                     ": the window must be 1 or more, the others 0 or more");
  }
  std::vector<int> keys;
  for (int j = 0; j <= t; ++j)
    if (j < sinks || j > t - window) keys.push_back(j);
  return keys;
}

Mask streaming_mask(int queries, int keys, int sinks, int window) {
  Mask mask(queries, keys, false);
  for (int i = 0; i < queries; ++i) {
    const int t = i + keys - queries;
    if (t < 0) continue;
    for (const int j : streaming_keys(t, sinks, window)) mask.set(i, j, true);
  }
  return mask;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
