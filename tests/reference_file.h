// Reads the numbers in tests/reference: matrices that independent programs computed.
//
//   # a comment
//   name rows cols
//   numbers, row by row
#pragma once

#include <map>
#include <string>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

class ReferenceFile {
 public:
  explicit ReferenceFile(const std::string& name);  // "softmax.txt"; throws InputError if it is missing or broken
  const Matrix& operator[](const std::string& matrix) const;  // throws InputError if there is none

 private:
  std::string path_;
  std::map<std::string, Matrix> matrices_;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
