// The rows of twin_rows_problem.cpp.
#pragma once

#include "tests/cuda/twin_problem.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::vector<TwinCase> twin_rows();

}  // namespace GLASS_PRECISION
}  // namespace glass
