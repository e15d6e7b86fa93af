// Sizes of a GPT and of its training, by the names that --preset takes.
#pragma once

#include "layers/models/train.h"
#include "tutorials/page/options.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Preset {
  const char* name;
  GptSettings model;
  TrainSettings training;
};

// The same names as in tutorials/lessons.json.
inline const Preset kPresets[] = {
    {"quick", {.layers = 2, .heads = 3, .C = 48, .T = 32}, {.steps = 500, .batch = 8, .rate = 5e-3, .floor = 5e-4, .warmup = 50}},
    {"licence", {.layers = 4, .heads = 4, .C = 64, .T = 64, .dropout = 0.1}, {.steps = 2000, .batch = 16, .rate = 3e-3, .floor = 3e-4}},
    // the small configuration for a CPU that the README of nanoGPT (Karpathy 2022) gives, there for tiny Shakespeare
    {"nanogpt", {.layers = 4, .heads = 4, .C = 128, .T = 64, .bias = Bias::no, .activation = Activation::gelu}, {.steps = 2000, .batch = 12}},
};

inline Preset preset_of(const Options& options, int vocabulary) {
  Preset preset = kPresets[0];
  for (const Preset& p : kPresets)
    if (options.preset == p.name) preset = p;
  preset.model.vocabulary = vocabulary;
  if (options.steps > 0) preset.training.steps = options.steps;
  return preset;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
