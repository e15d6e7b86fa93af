// Matrices as CSV: the numbers on the blackboard.
//
//   1, 2, 3        One row per line, commas between numbers. A byte-order mark, CRLF line ends and blank lines are
//   4, 5, 6        fine; the last line needs no end. A row of another length, an empty field (a trailing comma), a
//                  decimal comma, anything after a number, and nan or inf are errors that name line and column.
#pragma once

#include <string>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

Matrix read_csv(const std::string& path);                               // throws InputError
Matrix parse_csv(const std::string& text, const std::string& source);  // `source` names the text in errors
std::string to_csv(Mat);                                                // full precision: reading it back gives the same bits

}  // namespace GLASS_PRECISION
}  // namespace glass
