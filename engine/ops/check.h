// Shape checks for the builders: they run before anything is recorded, and their words are for a student.
#pragma once

#include <initializer_list>
#include <string>

#include "engine/ops.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Operand {
  const char* role;  // "left"
  Var var;
};

// Throws ShapeError:
//
//   matmul: the inner sizes differ (8 is not 4)
//     left   %3 "Q"  4 x 8
//     right  %4 "K"  4 x 8
//     did you mean matmul_nt (left times right transposed)?
//     at tutorials/09_self_attention.cpp:31
[[noreturn]] void shape_error(const char* op, const std::string& problem, std::initializer_list<Operand>,
                              const std::string& hint, Where);

void require_same_tape(const char* op, std::initializer_list<Operand>);           // TapeError
Shape require_same_shape(const char* op, Var a, Var b, Where);                    // both R x C; that shape
void require_row(const char* op, Var x, Var r, Where);                            // r is 1 x C
void require_col(const char* op, Var x, Var c, Where);                            // c is R x 1
void require_scalar(const char* op, Var x, Var s, Where);                         // s is 1 x 1
void require_places(const char* op, const char* role, Var, const int* places, int n, Shape matrix, Where);  // each is inside
void require_constant(const char* op, const char* role, Var);                     // TapeError: it would get no gradient
Var sparse_weights_of(Var y, Where);  // for weights_of: what sparse_attention kept; no line if y is none of its lines
void require_keep(const char* op, Var x, Keep, Shape wanted, Where);              // the mask fits

}  // namespace GLASS_PRECISION
}  // namespace glass
