// The simplest tokenizer: one token for each character.
#pragma once

#include <string>
#include <vector>

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {

// A character is a Unicode code point (an accent that is written as a second code point counts on its own). The vocabulary: the
// characters of a text, each once, in the order of their numbers; the place in it is the id.
//
//   Characters("hello")    e h l o    encode("hole") = 1 3 2 0
class Characters {
 public:
  explicit Characters(const std::string& text);  // throws InputError if it is empty or no UTF-8

  int size() const { return int(all_.size()); }
  // Throws InputError for a character that the vocabulary has not, with the character and its place, or if the text is no UTF-8.
  std::vector<int> encode(const std::string& text) const;
  std::string decode(const std::vector<int>& ids) const;  // throws InputError for an id outside
  const std::string& operator[](int id) const;

 private:
  std::vector<std::string> all_;  // sorted: the order of bytes in UTF-8 is that of code points
};

}  // namespace GLASS_PRECISION
}  // namespace glass
