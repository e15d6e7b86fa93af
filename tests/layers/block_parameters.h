// The parameters of tests/reference/listing_encoder.py and of the printed numbers, by formula.
#pragma once

#include <string>

#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

void set_attention(ParamStore&, const std::string& suffix, double shift);  // W_q ... W_o and, if there are any, biases
void set_rest(ParamStore&, int norms);  // W_1, b_1, W_2, b_2, gain_k, bias_k

}  // namespace GLASS_PRECISION
}  // namespace glass
