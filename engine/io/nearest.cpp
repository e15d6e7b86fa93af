#include "engine/io/nearest.h"

#include <algorithm>

namespace glass {

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& typed, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = 3;
  for (const std::string& word : known) {
    const std::size_t d = distance(typed, word);
    if (d < least && d < std::max(typed.size(), word.size())) least = d, best = word;
  }
  return best;
}

}  // namespace glass
