// What glassgrad is timed with: float32, the fast backend. Each function makes the work of its file, or nothing.
#pragma once

#include "engine/mat.h"
#include "tests/bench/turns.h"

namespace bench {

std::unique_ptr<Work> machine_work(const Request&);    // machine.cpp    peak, bandwidth
std::unique_ptr<Work> kernel_work(const Request&);     // kernels.cpp    product, softmax, layer_norm, gelu
std::unique_ptr<Work> attention_work(const Request&);  // attention.cpp  attention, op
std::unique_ptr<Work> training_work(const Request&);   // training.cpp   encoder, adamw, gpt

glass::Matrix numbers(int rows, int cols, unsigned seed);  // normal

// heap.cpp: malloc, new and their kin, since the start; and the bytes that they were asked for
long count_heap_calls();
long count_heap_bytes();

}  // namespace bench
