#include "tutorials/diff/forms.h"

#include <fmt/format.h>

#include "layers/attention/variants.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const char* const kOthers[][2] = {
    {"causal", "plain, each word sees itself and those before (lesson 11)"},
    {"padding", "plain, the last word is hidden (11)"},
    {"causal+padding", "both (11)"},
    {"cut-up", "one projection, cut into heads (12)"},
    {"per-head", "a projection for each head, the same weights (12)"},
    {"multi-head", "as many key heads as heads (12)"},
    {"grouped", "half as many key heads (12)"},
    {"multi-query", "one key head (12)"},
    {"pre-norm", "an encoder block, norms on the side (17)"},
    {"post-norm", "an encoder block, norms behind the sums (17)"},
};

std::string form_list() {
  std::string text = "tutorials/run diff A B: where do two forms part?\n\nWays of attending (and their lesson):\n";
  for (const VariantInfo& v : all_variants()) text += fmt::format("  {:<16}{} ({})\n", v.name, v.what, v.lesson);
  text += "Masks, heads, blocks:\n";
  for (const auto& other : kOthers) text += fmt::format("  {:<16}{}\n", other[0], other[1]);
  return text + "\nExamples:  tutorials/run diff causal padding      tutorials/run diff flash plain\n"
                "           tutorials/run diff pre-norm post-norm  tutorials/run diff linear plain --text \"a b c\"\n"
                "Options:   tutorials/run diff --help\n";
}

// Each head projects with columns of its own; the same numbers as one projection cut up.
static Var per_head(Var X, const MultiHeadAttention& layer) {
  Tape& tape = *X.tape;
  const int d = X.shape().cols / layer.heads;
  const Var W_q = tape.use(*layer.q.W), W_k = tape.use(*layer.k.W), W_v = tape.use(*layer.v.W);
  std::vector<Var> heads;
  for (int h = 0; h < layer.heads; ++h) {
    const Scope scope(tape, ("head " + std::to_string(h)).c_str());
    const Var Q = matmul(X, tape.cols(W_q, h * d, d)).named("Q"), K = matmul(X, tape.cols(W_k, h * d, d)).named("K");
    const Var V = matmul(X, tape.cols(W_v, h * d, d)).named("V");
    heads.push_back(attention_steps(Q, K, V));
  }
  return layer.o(concat_cols(heads.data(), layer.heads).named("heads")).named("Y");
}

static bool known(const std::string& name) {
  for (const auto& other : kOthers)
    if (name == other[0]) return true;
  return false;
}

Form::Form(const std::string& name, Mat x, int heads, std::uint64_t seed, Mat dY) {
  const int n = x.rows, C = x.cols;
  Rng rng(seed);
  X = tape.input(x, "X");
  if (name == "pre-norm" || name == "post-norm") {
    block_ = std::make_unique<EncoderBlock>(params, "", BlockSettings{.C = C, .heads = heads, .norm = name == "pre-norm" ? NormPlace::pre : NormPlace::post}, rng);
    Y = (*block_)(X);
    tape.backward(Y, dY);
    return;
  }
  if (!known(name)) variant_info(name);  // throws for a name that is not there
  const int kv_heads = name == "multi-query" ? 1 : name == "grouped" ? (heads + 1) / 2 : heads;
  MultiHeadAttention layer(params, "", C, heads, rng, Bias::no, kv_heads);
  if (!known(name)) variant_ = make_variant(name, params, n, C / heads, heads, rng);
  if (variant_) layer.variant = variant_.get();
  Mask mask(n, n);
  if (name.rfind("causal", 0) == 0) mask = mask & Mask::causal(n, n);
  if (name.find("padding") != std::string::npos) {
    for (int i = 0; i < n; ++i) mask.set(i, n - 1, false);
  }
  Y = name == "per-head" ? per_head(X, layer) : layer(X, {.mask = mask.hides_nothing() ? nullptr : &mask});
  tape.backward(Y, dY);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
