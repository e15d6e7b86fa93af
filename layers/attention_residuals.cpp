#include "layers/attention_residuals.h"

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Var score(Var v, Var w, Var gain, double eps) { return matmul(rms_norm(v, gain, eps).named("k"), w); }

static Var scores(const std::vector<Var>& sources, Var w, Var gain, double eps) {  // n x sources
  std::vector<Var> s;
  for (const Var v : sources) s.push_back(score(v, w, gain, eps));
  return concat_cols(s.data(), int(s.size())).named("s");
}

static Var mixture(const std::vector<Var>& sources, Var alpha) {
  Var h;
  for (int i = 0; i < int(sources.size()); ++i) {
    const Var part = mul_col(sources[std::size_t(i)], alpha.tape->cols(alpha, i, 1));
    h = i ? add(h, part) : part;
  }
  return h.named("h");
}

Var attend_over_depth(const std::vector<Var>& sources, Var w, Var gain, double eps) {
  return mixture(sources, softmax(scores(sources, w, gain, eps)).named("alpha"));
}

Var attend_in_two_phases(const std::vector<Var>& finished, Var partial, Var w, Var gain, double eps) {
  const Var s = scores(finished, w, gain, eps);
  const Var h = mixture(finished, softmax(s)), l = log_sum_exp(s);  // phase one
  const Var beta = sigmoid(sub(score(partial, w, gain, eps), l)).named("beta");
  return add(h, mul_col(sub(partial, h), beta)).named("h");  // phase two
}

DepthQuery::DepthQuery(ParamStore& store, const std::string& suffix, int width, Rng& rng, double e)
    : w(&store.make("w" + suffix, {width, 1}, Init::zeros, rng)),
      gain(&store.make("gain" + suffix, {1, width}, Init::ones, rng)),
      eps(e) {}

Var DepthQuery::operator()(const std::vector<Var>& sources) const {
  Tape& tape = *sources[0].tape;
  return attend_over_depth(sources, tape.use(*w), tape.use(*gain), eps);
}

AttentionResiduals::AttentionResiduals(ParamStore& store, const std::string& suffix, int l, int width, Rng& rng, int s)
    : layers(l), block(s) {
  if (l < 0 || s < 1)
    throw ShapeError("attention residuals: " + std::to_string(l) + " sub-layers in blocks of " + std::to_string(s));
  for (int i = 1; i <= l + 1; ++i) queries.emplace_back(store, std::to_string(i) + suffix, width, rng);
}

std::vector<Var> DepthStream::sources() const {
  std::vector<Var> all = finished_;
  if (partial_.tape) all.push_back(partial_);
  return all;
}

Var DepthStream::read() const { return r_ ? r_->queries[std::size_t(written_)](sources()) : finished_[0].named("h"); }

void DepthStream::write(Var output) {
  if (!r_) {
    finished_[0] = add(finished_[0], output);
    return;
  }
  if (written_ == r_->layers) throw TapeError("attention residuals: all " + std::to_string(r_->layers) + " sub-layers have given their output");
  partial_ = partial_.tape ? add(partial_, output) : output;
  if (++written_ % r_->block) return;
  finished_.push_back(partial_);
  partial_ = {};
}

}  // namespace GLASS_PRECISION
}  // namespace glass
