#include "tests/reference_file.h"

#include <fstream>
#include <limits>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

ReferenceFile::ReferenceFile(const std::string& name) : path_(GLASS_SOURCE_DIR "/tests/reference/" + name) {
  std::ifstream file(path_);
  if (!file) throw InputError("cannot read " + path_);
  std::string word;
  while (file >> word) {
    if (word[0] == '#') {
      file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      continue;
    }
    Shape s;
    file >> s.rows >> s.cols;
    if (!file) throw InputError(path_ + ": no size after \"" + word + "\"");
    Matrix m(s);
    for (int i = 0; i < s.rows; ++i) {
      for (int j = 0; j < s.cols; ++j) {
        double x = 0;
        file >> x;
        m(i, j) = Real(x);
      }
    }
    if (!file) throw InputError(path_ + ": too few numbers for " + word);
    matrices_[word] = m;
  }
}

const Matrix& ReferenceFile::operator[](const std::string& matrix) const {
  const auto found = matrices_.find(matrix);
  if (found == matrices_.end()) throw InputError(path_ + " has no matrix called " + matrix);
  return found->second;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
