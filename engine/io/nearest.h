// "Did you mean ...?": the known word that is closest to a mistyped one.
#pragma once

#include <string>
#include <vector>

namespace glass {

// How many letters must change, come or go to turn a into b (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b);

// The first of the closest words, if at most two letters differ and not all of them; else "".
std::string nearest(const std::string& typed, const std::vector<std::string>& known);

}  // namespace glass
