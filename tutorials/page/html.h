// The parts of a page that --html writes; Page::html() puts them together.
#pragma once

#include <string>
#include <vector>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The text of a template with every {{name}} replaced. What is filled in is not looked at again.
std::string filled(const std::string& frame, const std::vector<std::pair<std::string, std::string>>& values);

// < > & " as HTML writes them.
std::string escaped(const std::string& text);

// {"7":[{"row":0,"column":1,"sum":0.25,"terms":[[line,row,column,upstream,local,product],...],"more":0},...],...}: for entries of the
// gradients of these lines, in this order, until there are `most` of them. Large matrices are left out.
std::string whys_of(Tape&, const std::vector<int>& lines, long most);

// {"7":"const Var Q = matmul(X, W_q).named(\"Q\");",...}: the line of the source that recorded each line of the tape, where the file is at hand.
std::string sources_of(const Tape&);

}  // namespace GLASS_PRECISION
}  // namespace glass
