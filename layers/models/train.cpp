#include "layers/models/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "layers/optim/clip.h"

namespace glass {
inline namespace GLASS_PRECISION {

Trainer::Trainer(Gpt& model, const std::vector<int>& text, const TrainSettings& s, std::uint64_t seed)
    : gpt(model),
      settings(s),
      tape(model.home()),
      adamw(model.params, 0, s.decay),
      text_(text),
      schedule_{s.rate, std::min(s.warmup, s.steps), s.steps, s.floor},
      rng_(seed) {
  adamw.beta1 = s.beta1;
  adamw.beta2 = s.beta2;
}

double Trainer::step() {
  const auto start = std::chrono::steady_clock::now();
  windows_.draw(text_, settings.batch, gpt.settings.T, rng_);
  tape.rewind();
  const Var loss = gpt.loss(tape, windows_.inputs, windows_.targets, settings.batch);
  gpt.params.zero_grad();
  tape.backward(loss);
  clip_by_norm(gpt.params, settings.clip);
  adamw.rate = schedule_(adamw.t + 1);
  adamw.step();
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return double(HostView(tape.be, loss.value())(0, 0));
}

double loss_on(Gpt& gpt, const std::vector<int>& text, int windows) {
  const int T = gpt.settings.T, places = int(text.size()) - T;  // where a window can start
  if (places < 1 || windows < 1) {
    throw InputError("loss_on: " + std::to_string(windows) + " windows of " + std::to_string(T) + " tokens and the next in a text of " + std::to_string(text.size()));
  }
  const int n = std::min(windows, std::max(1, places / T)), at_once = 16;
  const bool before = gpt.training();
  gpt.training(false);
  Tape tape(gpt.home());
  Windows w;
  double sum = 0;
  for (int first = 0; first < n; first += at_once) {
    std::vector<int> starts;
    for (int i = first; i < std::min(first + at_once, n); ++i) starts.push_back(int(double(places) * i / n));
    w.at(text, starts, T);
    const NoGrad scope(tape);
    sum += double(HostView(tape.be, gpt.loss(tape, w.inputs, w.targets, int(starts.size())).value())(0, 0)) * double(starts.size());
  }
  gpt.training(before);
  return sum / n;
}

std::string progress_line(long step, long of, double loss, double tokens, double seconds) {
  const double rate = seconds > 0 ? tokens / seconds : 0;
  const long left = step > 0 ? std::lround(seconds / double(step) * double(of - step)) : 0;
  char line[128];
  std::snprintf(line, sizeof line, "step %ld of %ld   loss %.3f   %.0fk tokens/s   %ld:%02ld left", step, of, loss, rate / 1000, left / 60, left % 60);
  return line;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
