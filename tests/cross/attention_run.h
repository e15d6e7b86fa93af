// One self-attention layer, run in a precision of which this header says nothing: doubles come out of both.
#pragma once

#include <string>
#include <vector>

struct AttentionNumbers {
  std::vector<double> Y;                     // values
  std::vector<double> dX, dW_q, dW_k, dW_v;  // gradients
};

AttentionNumbers attention_run_f32(bool fused, bool causal);
AttentionNumbers attention_run_f64(bool fused, bool causal);

// Two heads of a way of attending, by its name in layers/attention/variants.h: Y, dQ, dK, dV.
std::vector<std::vector<double>> variant_run_f32(const std::string& name);
std::vector<std::vector<double>> variant_run_f64(const std::string& name);
std::vector<std::string> variant_names_f32();
std::vector<std::string> variant_names_f64();
