// A terminal that is ours for a while: single keys, a page of text, a line at the bottom. It is given back as it was when the Screen
// goes away, however that happens: return, exception, Ctrl-C (exit code 130), Ctrl-Z and back.
#pragma once

#include <string>
#include <vector>

namespace glass {

class Screen {
 public:
  static bool possible();  // both ends are a terminal that can move its cursor; false on Windows
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;

  enum Key { end = -1, resized = -2, up = -3, down = -4, left = -5, right = -6, first = -7, last = -8, page_up = -9, page_down = -10, escape = -11, other = -12 };
  int key();  // a byte that was typed, or one of these; `end`: there will be no more

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  // The lines from `from` on that fit, cut at the edge, and the bottom line. Both may hold colour codes.
  void show(const std::vector<std::string>& lines, std::size_t from, const std::string& bottom);

 private:
  void measure();
  int rows_ = 24, columns_ = 80;
};

}  // namespace glass
