#include "engine/errors.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace glass {

std::string to_text(int rows, int cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

std::string to_text(double x) {
  if (std::isnan(x)) return "nan";  // never "-nan" or "nan(ind)"
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x == 0 ? 0.0 : x);  // no "-0"
  return text;
}

std::string to_text(const Where& w) {
  // The compiler gives the path it was called with; a reader wants it from the project's root.
  const char* path = w.file;
  for (const char* room : {"/engine/", "/layers/", "/tutorials/", "/tests/"}) {
    if (const char* at = std::strstr(w.file, room)) path = at + 1;
  }
  return std::string(path) + ":" + std::to_string(w.line);
}

std::string entry_text(int r, int c) { return "[" + std::to_string(r) + "," + std::to_string(c) + "]"; }

}  // namespace glass
