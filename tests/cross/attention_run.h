// One self-attention layer, run in a precision of which this header says nothing: doubles come out of both.
#pragma once

#include <vector>

struct AttentionNumbers {
  std::vector<double> Y;                     // values
  std::vector<double> dX, dW_q, dW_k, dW_v;  // gradients
};

AttentionNumbers attention_run_f32(bool fused, bool causal);
AttentionNumbers attention_run_f64(bool fused, bool causal);
