// What a line costs: arithmetic, and memory that must move. --profile divides both by the time that it took.
//
// FLOPs are floating-point operations, counted by one rule for every op:
//
//   1    an addition, a subtraction, a multiplication, a division, a comparison, a square root
//   2    a fused multiply-add; a product of R x K and K x C has 2 R K C
//   12   a function that is a polynomial inside: exp, log, sin, cos (kCurve). So softmax is 16 for each entry: the maximum,
//        a subtraction, exp, the sum, a multiplication
//
// Bytes: every operand is read once and every result written once; what is added into (a gradient) is read and written.
// That is what memory must carry at least. Several passes carry more, and what stays in a cache is not carried at all.
//
// These are counts of the method, not of a kernel: hidden pairs cost attention() as much as seen ones, since it computes them.
#pragma once

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Step;

struct Cost {
  double flops = 0, bytes = 0;
  void operator+=(Cost other) { flops += other.flops, bytes += other.bytes; }
};

enum class Pass { forward, backward };

constexpr double kCurve = 12;

double numbers_in(Mat);  // how many it holds; 0 for one without memory
double bytes_in(Mat);    // of them

// The usual bytes of a step. Forward: inputs and y. Backward: dy, the inputs (unless its rule needs none), and each wanted dx twice.
double usual_bytes(const Step&, Pass, bool needs_x = true);
int wanted(const Step&);  // how many inputs want a gradient; known on the way back only

// So many FLOPs for each entry of the largest matrix of the step: its inputs and y. Backward: for each gradient that is wanted.
Cost per_entry(const Step&, Pass, double forward, double backward, bool needs_x = true);

// So many multiplications, each with its addition; as many again for each gradient that is wanted.
Cost multiply_adds(const Step&, Pass, double n);

// A softmax between two products, for so many pairs of a query and a key: 2 d + 2 d_v + 17 for each, and on the way back the
// five products that give dA, dV, dQ, dK (and, if again, the scores once more). x: Q, K, V. Only the FLOPs.
double attention_flops(const Step&, Pass, double pairs, double d, double d_v, bool again);

}  // namespace GLASS_PRECISION
}  // namespace glass
