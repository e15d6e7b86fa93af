// A cache of fixed size for an endless text: the first few keys, which act as a sink, and the latest ones.
#pragma once

#include <vector>

#include "layers/attention/mask.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks", section 3.2 (there 4 sinks). Inference
// only: nothing is learned, and softmax stays as it is. Trained models put much weight on the first tokens, whatever these
// are: a row must sum to 1, and there the weight does no harm. Drop them from the cache, and the sums lose that weight.
//
// The keys that query t still finds, in order: 0 .. sinks - 1, then the last `window` of them, t - window + 1 .. t.
//
//   streaming_keys(9, 2, 3) = 0 1 7 8 9
//
// Positions are counted inside the cache: the place in this list, not the place in the text. So they never exceed
// sinks + window - 1, however long the text gets. The query stands at the last place.
std::vector<int> streaming_keys(int t, int sinks, int window);  // throws InputError unless t, sinks >= 0 and window >= 1

// The same for all queries, as a mask. With fewer queries than keys the queries are the last ones.
Mask streaming_mask(int queries, int keys, int sinks, int window);

}  // namespace GLASS_PRECISION
}  // namespace glass
