// Writing a file so that a reader finds the old one or the whole new one, never a half.
#pragma once

#include <string>

namespace glass {

// Writes a temporary file beside `path`, has it stored (fsync), and gives it the name. Throws InputError with the path and the reason,
// and leaves nothing behind. What is no plain file, such as /dev/stdout, is written to directly; a link is followed.
void save_file(const std::string& path, const std::string& text);

// Throws now what save_file would throw later because of the path: no such folder, no permission, a folder of that name.
void require_writable(const std::string& path);

}  // namespace glass
