#include "layers/models/gpt.h"

#include <cmath>

namespace glass {
inline namespace GLASS_PRECISION {

static const Start kStart(Init::normal, 0.02);  // Radford et al. 2019

static const GptSettings& checked(const GptSettings& s) {
  if (s.layers < 1 || s.heads < 1 || s.C < 1 || s.T < 1 || s.vocabulary < 1) {
    throw InputError("gpt: layers (" + std::to_string(s.layers) + "), heads (" + std::to_string(s.heads) + "), C (" + std::to_string(s.C) + "), T (" +
                     std::to_string(s.T) + ") and the vocabulary (" + std::to_string(s.vocabulary) + ") must be 1 or more");
  }
  if (s.C % s.heads != 0) throw InputError("gpt: the width " + std::to_string(s.C) + " cannot be cut into " + std::to_string(s.heads) + " heads");
  if (s.places == Places::rotary && s.C / s.heads % 2 != 0) {
    throw InputError("gpt: heads of width " + std::to_string(s.C / s.heads) + " cannot be turned in pairs of channels; it must be even");
  }
  if (s.activation != Activation::gelu && s.activation != Activation::gelu_tanh) throw InputError("gpt: the activation is gelu or gelu_tanh");
  return s;
}

static Start residual(const GptSettings& s) { return {Init::normal, kStart.deviation / std::sqrt(2.0 * s.layers)}; }

GptBlock::GptBlock(ParamStore& store, int number, const GptSettings& s, Rng& rng)
    : norm_1(store, "_1." + std::to_string(number), s.C, rng, s.eps, s.bias),
      norm_2(store, "_2." + std::to_string(number), s.C, rng, s.eps, s.bias),
      qkv(store, "_qkv." + std::to_string(number), s.C, 3 * s.C, rng, s.bias, kStart),
      o(store, "_o." + std::to_string(number), s.C, s.C, rng, s.bias, residual(s)),
      up(store, "_1." + std::to_string(number), s.C, 4 * s.C, rng, s.bias, kStart),
      down(store, "_2." + std::to_string(number), 4 * s.C, s.C, rng, s.bias, residual(s)),
      scope("layer " + std::to_string(number)) {
  for (Linear* l : {&qkv, &o, &up, &down}) l->fused = true;
}

static std::vector<GptBlock> make_blocks(ParamStore& store, const GptSettings& s, Rng& rng) {
  std::vector<GptBlock> all;
  for (int l = 0; l < s.layers; ++l) all.emplace_back(store, l, s, rng);
  return all;
}

Gpt::Gpt(ParamStore& store, const GptSettings& s, Rng& rng)
    : settings(checked(s)),
      params(store),
      tokens(store, "tokens", s.vocabulary, s.C, rng, kStart),
      places(s.places == Places::learned ? &store.make("places", {s.T, s.C}, kStart, rng) : nullptr),
      blocks(make_blocks(store, s, rng)),
      norm(store, "", s.C, rng, s.eps, s.bias),
      head(s.tied ? nullptr : &store.make("W_head", {s.C, s.vocabulary}, kStart, rng)),
      drop_(s.dropout, rng),
      causal_(0, 0) {}

Var Gpt::embed(Tape& tape, Var table, const std::vector<int>& ids, int batch, int first) {
  const Var X = gather_rows(table, ids.data(), int(ids.size()));
  if (!places) return drop_(X.named("X"));
  const int n = int(ids.size()) / batch;
  place_.resize(ids.size());  // no heap call once the batches have their size
  for (std::size_t r = 0; r < ids.size(); ++r) place_[r] = first + int(r) % n;
  return drop_(add(X, gather_rows(tape.use(*places), place_.data(), int(ids.size()))).named("X"));
}

Var Gpt::attend(const GptBlock& block, Var QKV, int batch, KvCache* cache) {
  Tape& tape = *QKV.tape;
  const int C = settings.C, heads = settings.heads;
  Var Q = tape.cols(QKV, 0, C).named("Q"), K = tape.cols(QKV, C, C).named("K");
  const Var V = tape.cols(QKV, 2 * C, C).named("V");
  if (!places) {
    const int first = cache ? cache->tokens : 0;
    const Rotary turn{.pairs = Rotary::Pairs::half, .first = first, .batch = batch, .heads = heads};
    Q = rotary(Q, turn).named("Q turned");
    K = rotary(K, turn).named("K turned");
  }
  const Var Y = cache ? multi_head_cached(Q, K, V, *cache, {.heads = heads}, flash_)
                      : multi_head(Q, K, V, {.batch = batch, .heads = heads, .mask = &causal_}, flash_);
  return block.o(Y);
}

Var Gpt::run(Tape& tape, const std::vector<int>& ids, int batch, std::vector<KvCache>* caches) {
  const int rows = int(ids.size()), first = caches ? caches->at(0).tokens : 0;
  if (batch < 1 || rows == 0 || rows % batch != 0) {
    throw ShapeError("gpt: " + std::to_string(rows) + " tokens cannot be cut into " + std::to_string(batch) + " sequences");
  }
  const int n = rows / batch;
  if (first + n > settings.T) {
    throw ShapeError("gpt: a text of " + std::to_string(first + n) + " tokens, but this model sees at most T = " + std::to_string(settings.T));
  }
  if (!caches && causal_.queries() != n) causal_ = Mask::causal(n, n);
  const Var table = tape.use(*tokens.table);
  Var X = embed(tape, table, ids, batch, first);
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    const GptBlock& block = blocks[l];
    const Scope scope(tape, block.scope.c_str());
    const Var R = add(X, drop_(attend(block, block.qkv(block.norm_1(X).named("N1")), batch, caches ? &(*caches)[l] : nullptr))).named("R");
    const Var U = block.up(block.norm_2(R).named("N2")).named("U");
    const Var H = (settings.activation == Activation::gelu ? gelu(U) : gelu_tanh(U)).named("H");
    X = add(R, drop_(block.down(H))).named("Y");
  }
  const Var N = norm(X).named("N");
  return (head ? matmul(N, tape.use(*head)) : matmul_nt(N, table)).named("Z");
}

Var Gpt::logits(Tape& tape, const std::vector<int>& ids, int batch) { return run(tape, ids, batch, nullptr); }

Var Gpt::loss(Tape& tape, const std::vector<int>& ids, const std::vector<int>& targets, int batch) {
  return cross_entropy(logits(tape, ids, batch), targets.data(), int(targets.size())).named("loss");
}

Var Gpt::decode(Tape& tape, const std::vector<int>& ids, std::vector<KvCache>& caches) {
  if (caches.size() != blocks.size()) {
    throw ShapeError("gpt: " + std::to_string(caches.size()) + " caches for " + std::to_string(blocks.size()) + " layers");
  }
  return run(tape, ids, 1, &caches);
}

Backend& Gpt::home() const {
  Backend& be = *params.all.front().value.home();
  return be.host_readable() ? cpu_backend() : be;  // whichever the CPU's is now
}

std::vector<KvCache> Gpt::caches() const {
  std::vector<KvCache> all;
  for (std::size_t l = 0; l < blocks.size(); ++l) all.emplace_back(settings.T, settings.C, settings.C, &home());
  return all;
}

long parameters(const GptSettings& s) {
  const long C = s.C, V = s.vocabulary, bias = s.bias == Bias::yes;
  const long matrices = 12 * C * C, biases = 9 * C, norms = 2 * (1 + bias) * C;  // of a block
  return V * C + (s.places == Places::learned ? s.T * C : 0) + s.layers * (matrices + bias * biases + norms) + (1 + bias) * C + (s.tied ? 0 : C * V);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
