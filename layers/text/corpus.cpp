#include "layers/text/corpus.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static void require_windows(const char* part, std::size_t tokens, std::size_t all, int T) {
  if (tokens > std::size_t(T)) return;
  throw InputError("corpus: the text has " + std::to_string(all) + " tokens, so " + std::to_string(tokens) + " " + part +
                   ", but windows of " + std::to_string(T) + " tokens and the next need " + std::to_string(T + 1) + ": take a longer text or a smaller T");
}

Corpus::Corpus(const std::vector<int>& ids, int T, double share) {
  if (!(share > 0 && share < 1)) throw InputError("corpus: the share for training must be between 0 and 1, not " + to_text(share));
  if (T < 1) throw InputError("corpus: windows must have 1 token or more, not " + std::to_string(T));
  const std::size_t n = std::size_t(share * double(ids.size()));
  require_windows("for training", n, ids.size(), T);
  require_windows("held out", ids.size() - n, ids.size(), T);
  train.assign(ids.begin(), ids.begin() + std::ptrdiff_t(n));
  held_out.assign(ids.begin() + std::ptrdiff_t(n), ids.end());
}

static void append(Windows& w, const std::vector<int>& text, std::size_t start, int T) {
  if (start >= text.size() || start + std::size_t(T) + 1 > text.size()) {
    throw InputError("windows: " + std::to_string(T) + " tokens from place " + std::to_string(start) + " on and the next are not in a text of " +
                     std::to_string(text.size()));
  }
  for (std::size_t t = start; t < start + std::size_t(T); ++t) {
    w.inputs.push_back(text[t]);
    w.targets.push_back(text[t + 1]);
  }
}

void Windows::at(const std::vector<int>& text, const std::vector<int>& starts, int T) {
  inputs.clear();
  targets.clear();
  for (const int start : starts) append(*this, text, std::size_t(start), T);
}

void Windows::draw(const std::vector<int>& text, int batch, int T, Rng& rng) {
  inputs.clear();
  targets.clear();
  const double places = double(text.size()) - T;  // the last window ends one before the last token
  for (int b = 0; b < batch; ++b) append(*this, text, std::size_t(rng.uniform() * std::max(places, 0.0)), T);
}

double unigram_loss(const std::vector<int>& train, const std::vector<int>& text, int vocabulary) {
  std::vector<double> n(std::size_t(vocabulary), 1);
  for (const int j : train) n.at(std::size_t(j)) += 1;
  double sum = 0;
  for (std::size_t t = 1; t < text.size(); ++t) sum -= std::log(n.at(std::size_t(text[t])) / double(train.size() + std::size_t(vocabulary)));
  return sum / double(text.size() - 1);
}

double bigram_loss(const std::vector<int>& train, const std::vector<int>& text, int vocabulary) {
  const std::size_t V = std::size_t(vocabulary);
  std::unordered_map<std::size_t, double> pairs;  // V * V numbers would be too many for a text in ideographs
  std::vector<double> first(V, double(V));
  for (std::size_t t = 1; t < train.size(); ++t) {
    first.at(std::size_t(train[t - 1])) += 1;
    pairs[std::size_t(train[t - 1]) * V + std::size_t(train[t])] += 1;
  }
  double sum = 0;
  for (std::size_t t = 1; t < text.size(); ++t) {
    const std::size_t i = std::size_t(text[t - 1]), j = std::size_t(text[t]);
    const auto found = pairs.find(i * V + j);
    sum -= std::log((found == pairs.end() ? 1 : 1 + found->second) / first.at(i));
  }
  return sum / double(text.size() - 1);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
