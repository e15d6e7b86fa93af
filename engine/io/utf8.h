// Just enough UTF-8: is this text valid, and how long is each character? (What needs the Unicode tables, such as
// lower-casing or normal forms, belongs to utf8proc.)
#pragma once

#include <string>

namespace glass {

// Bytes of the character that starts at `at`: 1 to 4, or 0 if there is no valid character there (a stray or
// missing continuation byte, an overlong form, a surrogate, a number above U+10FFFF).
std::size_t utf8_length(const std::string& s, std::size_t at);

// The position of the first byte that is not valid UTF-8, or npos.
std::size_t utf8_error(const std::string& s);

}  // namespace glass
