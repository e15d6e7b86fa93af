#include "layers/models/sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace glass {
inline namespace GLASS_PRECISION {

int draw_token(Mat logits, const Sampling& how, Rng& rng) {
  if (!(how.temperature >= 0) || std::isinf(how.temperature)) {
    throw InputError("sample: the temperature must be 0 or more, not " + to_text(how.temperature));
  }
  if (how.top_k < 0) throw InputError("sample: top k must be 0 (all) or more, not " + std::to_string(how.top_k));
  std::vector<std::pair<double, int>> likeliest;  // (-z_j, j): sorted, the largest comes first, and of equals the first
  for (int j = 0; j < logits.cols; ++j) {
    const double z = double(logits(0, j));
    if (std::isnan(z) || z == HUGE_VAL) throw InputError("sample: the logit of token " + std::to_string(j) + " is " + to_text(z));
    likeliest.push_back({-z, j});
  }
  std::sort(likeliest.begin(), likeliest.end());
  if (likeliest.empty() || likeliest[0].first == HUGE_VAL) throw InputError("sample: no token is possible");
  if (how.temperature == 0) return likeliest[0].second;
  if (how.top_k > 0 && how.top_k < logits.cols) likeliest.resize(std::size_t(how.top_k));
  double sum = 0, below = 0;
  for (const auto& [minus_z, j] : likeliest) sum += std::exp((likeliest[0].first - minus_z) / how.temperature);
  const double place = rng.uniform() * sum;
  for (const auto& [minus_z, j] : likeliest) {
    below += std::exp((likeliest[0].first - minus_z) / how.temperature);
    if (place < below) return j;
  }
  return likeliest[0].second;  // the same sum twice: not reached
}

Writer::Writer(Gpt& gpt) : gpt_(gpt), tape_(gpt.home()), caches_(gpt.caches()), logits_(Shape{1, gpt.settings.vocabulary}) {}

void Writer::feed(const std::vector<int>& ids) {
  const NoGrad scope(tape_);
  const Mat Z = gpt_.decode(tape_, ids, caches_).value();
  tape_.be.to_host(Z.block(Z.rows - 1, 0, 1, Z.cols), logits_);
}

void Writer::read(const std::vector<int>& ids) {
  const std::size_t T = std::size_t(gpt_.settings.T), half = std::max<std::size_t>(T / 2, 1);
  for (std::size_t at = 0; at < ids.size();) {
    if (caches_[0].tokens == gpt_.settings.T) {
      for (KvCache& c : caches_) c.clear();
      if (T > half) feed({text.end() - std::ptrdiff_t(half), text.end()});
    }
    const std::size_t n = std::min(ids.size() - at, T - std::size_t(caches_[0].tokens));
    const auto from = ids.begin() + std::ptrdiff_t(at);
    feed({from, from + std::ptrdiff_t(n)});
    text.insert(text.end(), from, from + std::ptrdiff_t(n));
    at += n;
  }
}

int Writer::write(const Sampling& how, Rng& rng) {
  if (text.empty()) throw InputError("sample: the text is empty; read() at least one token first");
  const int next = draw_token(logits_, how, rng);
  read({next});
  return next;
}

std::vector<int> Writer::seen() const { return {text.end() - caches_[0].tokens, text.end()}; }

std::vector<int> sample(Gpt& gpt, const std::vector<int>& prompt, int n, const Sampling& how, Rng& rng) {
  const bool before = gpt.training();
  gpt.training(false);
  Writer writer(gpt);
  writer.read(prompt);
  for (int i = 0; i < n; ++i) writer.write(how, rng);
  gpt.training(before);
  return {writer.text.begin() + std::ptrdiff_t(prompt.size()), writer.text.end()};
}

}  // namespace GLASS_PRECISION
}  // namespace glass
