#include "engine/io/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "engine/errors.h"
#include "engine/io/utf8.h"

namespace glass {

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path + ": it is a folder, not a file");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw InputError(path + ": " + std::strerror(errno));
  std::string text;
  char part[1 << 14];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, file.get())) > 0;) text.append(part, n);
  if (std::ferror(file.get())) throw InputError(path + ": cannot be read: " + std::strerror(errno));
  return text;
}

void require_utf8(const std::string& text, const std::string& source) {
  const std::size_t at = utf8_error(text);
  if (at != std::string::npos) {
    throw InputError(source + ": not UTF-8 text: the byte at position " + std::to_string(at) + " does not belong there");
  }
}

std::string read_text(const std::string& path) {
  std::string text = read_file(path);
  require_utf8(text, path);
  if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  const char* const white = " \t\r\n\v\f";
  for (std::size_t from = text.find_first_not_of(white); from != std::string::npos;) {
    const std::size_t to = std::min(text.find_first_of(white, from), text.size());
    words.push_back(text.substr(from, to - from));
    from = text.find_first_not_of(white, to);
  }
  return words;
}

}  // namespace glass
