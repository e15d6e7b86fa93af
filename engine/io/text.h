// Reading text files, whole or as words, with errors that name the file and the reason.
#pragma once

#include <string>
#include <vector>

namespace glass {

// The whole file. Throws InputError: missing, a folder, no permission, a read error.
std::string read_file(const std::string& path);

// Like read_file, and the text must be UTF-8: otherwise InputError with the byte position. A byte-order mark at
// the start is left out.
std::string read_text(const std::string& path);

// The same check for text from elsewhere; `source` names it in the error.
void require_utf8(const std::string& text, const std::string& source);

// Split at white space (blank, tab, line ends). "The" and "the" are two words; a comma stays with its word.
std::vector<std::string> words_of(const std::string& text);

}  // namespace glass
