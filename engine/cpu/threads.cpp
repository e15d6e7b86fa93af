#include "engine/cpu/threads.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/cpu/openmp.h"
#include "engine/errors.h"

namespace glass {

static constexpr int kMost = 1024;
static constexpr double kWorthIt = 5e4;  // numbers, 5 µs of them: a hot fork costs half a microsecond, a cold one fifty

static int checked(int n, const std::string& from) {
  if (n < 0 || n > kMost) throw InputError(from + ": the number of threads is from 1 to " + std::to_string(kMost) + " (0: the number of cores), not " + std::to_string(n));
  return n;
}

int parse_threads(const char* text, const char* where) {
  int n = 0;
  const char* end = text + std::strlen(text);
  const std::from_chars_result r = std::from_chars(text, end, n);
  if (r.ec != std::errc() || r.ptr != end) {
    throw InputError(std::string(where) + ": the number of threads is from 1 to " + std::to_string(kMost) + " (0: the number of cores), not \"" + text + "\"");
  }
  return checked(n, where);
}

static int default_threads() {
  const char* wish = std::getenv("GLASS_THREADS");
  const int n = wish && *wish ? parse_threads(wish, "GLASS_THREADS") : 0;
  return n ? n : std::min(openmp_cores(), kMost);
}

static int wanted = 0;

int threads() {
  static const int usual = default_threads();
  return openmp_present() ? (wanted ? wanted : usual) : 1;
}

void set_threads(int n) { wanted = checked(n, "set_threads"); }

int threads_for(double work) { return work < kWorthIt || openmp_inside() ? 1 : threads(); }

}  // namespace glass
