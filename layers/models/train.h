// Training a GPT on a text: one update after the other, and the loss on text that it has not seen.
#pragma once

#include <string>
#include <vector>

#include "layers/models/gpt.h"
#include "layers/optim/adamw.h"
#include "layers/optim/schedule.h"
#include "layers/text/corpus.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct TrainSettings {
  long steps = 2000;
  int batch = 12;                     // windows of T tokens in each step
  double rate = 1e-3, floor = 1e-4;   // of the schedule: a line up during the warm-up, then half a cosine down to the floor
  long warmup = 100;                  // at most `steps`
  double beta1 = 0.9, beta2 = 0.99, decay = 0.1;
  double clip = 1;                    // the longest gradient
};

// One step:   draw windows    forward    backward    clip    AdamW at the rate of the schedule
//
// The model's T is the length of the windows. Windows are drawn by a generator of their own, so the same seed gives the same
// windows to every model.
class Trainer {
 public:
  Trainer(Gpt&, const std::vector<int>& text, const TrainSettings&, std::uint64_t seed);

  double step();  // returns the loss before the update. Throws NonFiniteError if a gradient is no number
  long steps() const { return adamw.t; }
  long tokens() const { return adamw.t * settings.batch * gpt.settings.T; }  // that it has learned from so far
  double seconds() const { return seconds_; }  // that the steps took, without what happened in between

  Gpt& gpt;
  const TrainSettings settings;
  Tape tape;
  AdamW adamw;

 private:
  const std::vector<int>& text_;
  WarmupCosine schedule_;
  Rng rng_;
  Windows windows_;
  double seconds_ = 0;
};

// Mean loss in nats per token over at most `windows` windows, evenly spread over the text, without dropout. There are no more
// than fit beside each other: as many as the text has tokens means all of it.
double loss_on(Gpt&, const std::vector<int>& text, int windows = 100);

// "step 300 of 2000   loss 2.31   120k tokens/s   0:14 left"
std::string progress_line(long step, long of, double loss, double tokens, double seconds);

}  // namespace GLASS_PRECISION
}  // namespace glass
