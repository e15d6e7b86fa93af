#include "tutorials/page/terminal.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef _WIN32
#include <io.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

#include "engine/errors.h"

namespace glass {

static std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_terminal(int descriptor) {
#ifdef _WIN32
  return _isatty(descriptor);
#else
  return isatty(descriptor);
#endif
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = env(name);
    if (locale.empty()) continue;
    return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos ||
           locale.find("UTF8") != std::string::npos || locale.find("utf-8") != std::string::npos;
  }
  return true;  // nobody said anything: a bare container, whose terminal is UTF-8 nearly everywhere
}

bool use_color(const std::string& when) {
  if (when != "auto") return when == "always";
  if (!env("NO_COLOR").empty()) return false;
  for (const char* name : {"CLICOLOR_FORCE", "FORCE_COLOR"})
    if (!env(name).empty() && env(name) != "0") return true;
  return is_terminal(1) && env("TERM") != "dumb";
}

int terminal_width() {
#ifndef _WIN32
  winsize size{};
  if (is_terminal(1) && ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 && size.ws_col <= 1000) return size.ws_col;
#endif
  return 80;
}

void write_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) std::_Exit(0);  // the reader, say `head`, has seen enough
  throw InputError(std::string("cannot write the output: ") + std::strerror(errno));
}

std::string printable(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool c1 = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;  // U+0080..U+009F
    if (c < 0x20 || c == 0x7f || c1) {
      out += '?';
      i += c1;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace glass
