// C = A B in numbered versions, from three loops to the kernel of the fast backend: lesson 40. Each is checked against version 1.
#pragma once

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Rung {
  int number;
  const char* name;
  void (*multiply)(Mat A, Mat B, Mat C);  // overwrites C; any sizes, any views
};

struct Ladder {
  const Rung* rungs;
  int count;
  int lanes;         // numbers in a vector
  int rows, vectors; // of the register tile of versions 4 and 5
  // Multiply-adds of vectors and nothing else, 16 sums side by side: what the processor can do at most. Returns the FLOPs done.
  double (*peak)(long rounds, double* sum);
};

const Ladder& matmul_ladder();  // for the vectors of fast_cpu(); link glass_fast_f32 or _f64

}  // namespace GLASS_PRECISION
}  // namespace glass
