#include "engine/io/save.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#ifdef _WIN32
#include <io.h>
#include <process.h>
#else
#include <unistd.h>
#endif

#include "engine/errors.h"

namespace glass {

namespace fs = std::filesystem;

static bool stored(std::FILE* file) {
#ifdef _WIN32
  return _commit(_fileno(file)) == 0;
#else
  return fsync(fileno(file)) == 0 || errno == EINVAL || errno == EROFS;  // a pipe or a device has nothing to store
#endif
}

static int process() {
#ifdef _WIN32
  return _getpid();
#else
  return int(getpid());
#endif
}

[[noreturn]] static void refuse(const std::string& path, int error) {
  throw InputError(path + ": cannot be written: " + std::strerror(error));
}

static bool is_special(const fs::path& path) {  // a device or a pipe: it must keep its name
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

static fs::path behind_links(const std::string& path) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  return failed ? fs::path(path) : real;
}

static void write_all(const fs::path& to, const std::string& text, const std::string& path) {
  std::FILE* file = std::fopen(to.string().c_str(), "wb");
  if (!file) refuse(path, errno);
  bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0 && stored(file);
  const int error = errno;
  good = std::fclose(file) == 0 && good;
  if (!good) refuse(path, error);
}

static fs::path temporary_of(const fs::path& real) { return real.string() + ".part" + std::to_string(process()); }

void require_writable(const std::string& path) {
  std::error_code ignored;
  if (path.empty()) throw InputError("the name of the file to write is empty");
  if (fs::is_directory(path, ignored)) throw InputError(path + ": it is a folder, not a file");
  const fs::path real = behind_links(path);
  if (is_special(real)) return;
  const fs::path part = temporary_of(real);
  std::FILE* file = std::fopen(part.string().c_str(), "wb");
  if (!file) refuse(path, errno);
  std::fclose(file);
  fs::remove(part, ignored);
}

void save_file(const std::string& path, const std::string& text) {
  require_writable(path);
  const fs::path real = behind_links(path);
  if (is_special(real)) return write_all(real, text, path);
  const fs::path part = temporary_of(real);
  std::error_code failed, ignored;
  try {
    write_all(part, text, path);
  } catch (const InputError&) {
    fs::remove(part, ignored);
    throw;
  }
  fs::rename(part, real, failed);
  if (!failed) return;
  fs::remove(part, ignored);
  refuse(path, failed.value());
}

}  // namespace glass
