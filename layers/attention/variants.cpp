#include "layers/attention/variants.h"

#include <algorithm>

#include "layers/attention/alternatives.h"
#include "layers/attention/efficient.h"
#include "layers/attention/flash.h"
#include "layers/attention/hybrid.h"
#include "layers/attention/linear_attention.h"
#include "layers/attention/linformer.h"
#include "layers/attention/multi_token.h"
#include "layers/attention/nystrom.h"
#include "layers/attention/performer.h"
#include "layers/attention/plain.h"
#include "layers/attention/qk_norm.h"
#include "layers/attention/sparse.h"
#include "layers/attention/top_k.h"
#include "layers/positional/alibi.h"
#include "layers/positional/rotary.h"
#include "layers/positional/shaw.h"
#include "layers/positional/t5_bias.h"

namespace glass {
inline namespace GLASS_PRECISION {

const std::vector<VariantInfo>& all_variants() {
  static const std::vector<VariantInfo> all = {
      {"plain", "09", true, Growth::square, "in steps, the definition"},
      {"fused", "09", true, Growth::square, "in one line"},
      {"rms-qk-norm", "10", false, Growth::square, "queries and keys normalised"},
      {"layer-qk-norm", "10", false, Growth::square, "the same with layer norm"},
      {"l2-qk-norm", "10", false, Growth::square, "cosines times a learned g"},
      {"cosine", "10", false, Growth::square, "cosines, a clamped scale per head"},
      {"temperature", "10", false, Growth::square, "a learned scale"},
      {"rotary", "15", false, Growth::square, "queries and keys turned by position"},
      {"alibi", "15", false, Growth::square, "far keys score less"},
      {"t5", "15", false, Growth::square, "a learned number per distance"},
      {"shaw", "15", false, Growth::square, "a learned row per distance"},
      {"sigmoid", "16", false, Growth::square, "weights do not compete"},
      {"off-by-one", "16", false, Growth::square, "a row may attend to nothing"},
      {"learned-sink", "16", false, Growth::square, "the same, learned"},
      {"soft-cap", "16", false, Growth::square, "scores within a cap"},
      {"sparsemax", "16", false, Growth::square, "many weights exactly 0"},
      {"entmax", "16", false, Growth::square, "some weights exactly 0"},
      {"online", "24", true, Growth::square, "the softmax a tile at a time, in steps"},
      {"flash", "24", true, Growth::square, "tiles, n numbers kept"},
      {"window", "26", false, Growth::window, "neighbours only"},
      {"dilated", "26", false, Growth::window, "every second neighbour"},
      {"strided", "26", false, Growth::window, "near, and every l-th"},
      {"fixed", "26", false, Growth::window, "a block, and its summaries"},
      {"global", "26", false, Growth::window, "a window and one key for all"},
      {"random", "26", false, Growth::window, "a window and random keys"},
      {"block", "26", false, Growth::window, "blocks: ends, window, random"},
      {"linear", "28", false, Growth::linear, "another kernel, regrouped"},
      {"performer", "28", false, Growth::linear, "random features of softmax"},
      {"efficient", "28", false, Growth::linear, "two softmaxes, regrouped"},
      {"hybrid", "28", false, Growth::square, "softmax near, linear far"},
      {"linformer", "29", false, Growth::low_rank, "keys mixed into a few slots"},
      {"nystrom", "29", false, Growth::low_rank, "weights from a few landmarks"},
      {"top-k", "30", false, Growth::square, "the k best keys of each query"},
      {"multi-token", "31", false, Growth::square, "scores convolved before softmax"},
  };
  return all;
}

const VariantInfo& variant_info(const std::string& name) {
  std::string known;
  for (const VariantInfo& v : all_variants()) {
    if (name == v.name) return v;
    known += (known.empty() ? "" : ", ") + std::string(v.name);
  }
  throw InputError("there is no attention \"" + name + "\"; there is " + known);
}

static std::unique_ptr<Variant> normalised(const std::string& name, ParamStore& store, int n, int d, int heads, Rng& rng) {
  if (name == "rms-qk-norm") return std::make_unique<RmsQkNorm>(store, "", d, rng);
  if (name == "layer-qk-norm") return std::make_unique<LayerQkNorm>(store, "", d, rng);
  if (name == "l2-qk-norm") return std::make_unique<L2QkNorm>(store, "", std::max(2, n), rng);
  if (name == "cosine") return std::make_unique<CosineAttention>(store, "", heads, rng);
  if (name == "temperature") return std::make_unique<LearnedTemperature>(store, "", d, rng);
  return nullptr;
}

static std::unique_ptr<Variant> positional(const std::string& name, ParamStore& store, int d, int heads, Rng& rng) {
  if (name == "rotary") return std::make_unique<RotaryAttention>();
  if (name == "alibi") return std::make_unique<Alibi>();
  if (name == "t5") return std::make_unique<T5Bias>(store, "B", heads, true, rng);
  if (name == "shaw") return std::make_unique<Shaw>(store, "", 2, d, d, rng);
  return nullptr;
}

static std::unique_ptr<Variant> reweighed(const std::string& name, ParamStore& store, int n, int heads, Rng& rng) {
  if (name == "sigmoid") return std::make_unique<SigmoidAttention>(store, "", n, rng);
  if (name == "off-by-one") return std::make_unique<OffByOne>();
  if (name == "learned-sink") return std::make_unique<LearnedSink>(store, "", heads, rng);
  if (name == "soft-cap") return std::make_unique<SoftCap>(2);
  if (name == "sparsemax") return std::make_unique<Sparsemax>();
  if (name == "entmax") return std::make_unique<Entmax15>();
  if (name == "top-k") return std::make_unique<TopK>(std::max(1, n / 2));
  return nullptr;
}

static std::unique_ptr<Variant> sparse(const std::string& name) {
  if (name == "window") return std::make_unique<SparseWindow>();
  if (name == "dilated") return std::make_unique<SparseDilated>();
  if (name == "strided") return std::make_unique<SparseStrided>();
  if (name == "fixed") return std::make_unique<SparseFixed>();
  if (name == "global") return std::make_unique<SparseGlobal>();
  if (name == "random") return std::make_unique<SparseRandom>();
  if (name == "block") return std::make_unique<SparseBlocks>();
  return nullptr;
}

static std::unique_ptr<Variant> regrouped(const std::string& name, ParamStore& store, int n, int d, Rng& rng) {
  if (name == "linear") return std::make_unique<LinearAttention>();
  if (name == "performer") return std::make_unique<Performer>(random_features(Draw::orthogonal, 16 * d, d, rng));
  if (name == "efficient") return std::make_unique<EfficientAttention>();
  if (name == "hybrid") return std::make_unique<HybridAttention>(2);
  if (name == "linformer") return std::make_unique<Linformer>(store, "", std::min(n, 4), n, rng);
  if (name == "nystrom") return std::make_unique<NystromAttention>(4);
  return nullptr;
}

std::unique_ptr<Variant> make_variant(const std::string& name, ParamStore& store, int n, int d, int heads, Rng& rng) {
  variant_info(name);  // throws for a name that is not there
  if (name == "plain") return std::make_unique<Plain>();
  if (name == "fused") return std::make_unique<Fused>();
  if (name == "online") return std::make_unique<OnlineSoftmax>();
  if (name == "flash") return std::make_unique<FlashAttention>();
  if (name == "multi-token") return std::make_unique<MultiTokenHead>();
  if (auto v = normalised(name, store, n, d, heads, rng)) return v;
  if (auto v = positional(name, store, d, heads, rng)) return v;
  if (auto v = reweighed(name, store, n, heads, rng)) return v;
  if (auto v = sparse(name)) return v;
  return regrouped(name, store, n, d, rng);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
