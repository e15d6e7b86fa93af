// How much memory a way of attending takes on the tape, and how much arithmetic stands on one.
#pragma once

#include <cmath>
#include <string>

#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

inline Matrix wave(Shape s, double a, double b, double c) {  // sin(a i + b j + c): numbers that need no seed
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(std::sin(a * i + b * j + c));
  return m;
}

// KiB for n tokens in one head of width 4, forward and back: values, what the ops keep, scratch, and gradients. Counted in the
// tape's own memory, so it is the same number on every machine.
inline double kib_on_tape(const Variant& variant, int n) {
  Tape tape;
  tape.scratch({4096, 1024});  // one block that is large enough, so that the mark below counts from its beginning
  tape.rewind();
  const Var Q = tape.input(wave({n, 4}, 3, 1, 0), "Q"), K = tape.input(wave({n, 4}, 2, 1, 0), "K"), V = tape.input(wave({n, 4}, 1, 1, 0), "V");
  tape.backward(variant(Q, K, V), wave({n, 4}, 5, 1, 0));
  if (tape.mark().values.block > 0) throw TapeError("kib_on_tape: " + std::to_string(n) + " tokens are too many for one block of memory");
  double bytes = double(tape.mark().values.used);
  for (const Node& line : tape.nodes)
    if (line.grad.data && line.view_of < 0) bytes += double(count(line.grad.shape())) * sizeof(Real);
  return bytes / 1024;
}

// Multiplications and additions in the matrix products of a tape: 2 R K C for R x K times K x C.
inline double operations_of_products(const Tape& tape) {
  double sum = 0;
  for (const Node& line : tape.nodes) {
    const std::string op = line.op;
    if (op.rfind("matmul", 0) != 0) continue;
    const Mat first = tape.nodes[std::size_t(line.in[0])].value;
    sum += 2.0 * line.value.rows * line.value.cols * (op == "matmul_tn" ? first.rows : first.cols);
  }
  return sum;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
