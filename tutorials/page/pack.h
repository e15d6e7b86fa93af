// How much of a matrix a document holds: its numbers, a map of bytes, or nothing. --json holds everything; --html what a browser
// can bear.
//
//   numbers   [[0.1,-2],[3,4]], full precision, about 20 bytes an entry
//   map       {"map":"AAECAwQF...","rows":128,"columns":128,"low":-1.5,"high":1.5}: base64 of one byte an entry, row by row.
//             Byte b of 0 to 252 is low + b (high - low) / 252; 253 is -inf, 254 inf, 255 nan.
//             A map may have fewer rows and columns than the matrix: then an entry is the mean of a block.
//   left out  {"left_out":true}
#pragma once

#include <string>
#include <vector>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Thin {
  long numbers;  // a matrix of up to so many entries is written as numbers
  int side;      // a larger one as a map of at most so many rows and columns; 0: left out
};

extern const Thin kWhole;  // every number of every matrix

std::string packed(Mat, Thin);  // JSON; host memory
std::size_t packed_size(Shape, Thin);  // of packed(), about, and never much too little

// The richest of a few ways that keeps all of these below a number of bytes; the poorest if none does.
Thin thin_for(const std::vector<Shape>&, std::size_t bytes);

std::string base64(const std::vector<unsigned char>&);

}  // namespace GLASS_PRECISION
}  // namespace glass
