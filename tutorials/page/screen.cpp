#include "tutorials/page/screen.h"

#include "tutorials/page/terminal.h"

#ifdef _WIN32

namespace glass {
bool Screen::possible() { return false; }
Screen::Screen() = default;
Screen::~Screen() = default;
int Screen::key() { return end; }
void Screen::show(const std::vector<std::string>&, std::size_t, const std::string&) {}
void Screen::measure() {}
}  // namespace glass

#else

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace glass {

// What a signal handler may touch.
static termios before;
static volatile sig_atomic_t resize = 0;
static const char kEnter[] = "\x1b[?1049h\x1b[?25l", kLeave[] = "\x1b[0m\x1b[?25h\x1b[?1049l";  // the other page, no cursor; and back

static void put_raw(const char* text, std::size_t n) {
  while (n > 0) {
    const ssize_t done = write(STDOUT_FILENO, text, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    text += done;
    n -= std::size_t(done);
  }
}

static void enter() {
  termios raw = before;
  raw.c_lflag &= ~tcflag_t(ICANON | ECHO);  // single keys, not drawn; Ctrl-C and Ctrl-Z stay signals
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  put_raw(kEnter, sizeof kEnter - 1);
}

static void leave() {
  put_raw(kLeave, sizeof kLeave - 1);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

static void on_resize(int) { resize = 1; }

static void on_end(int signal) {
  leave();
  _exit(128 + signal);  // 130 after Ctrl-C
}

static void on_stop(int) {
  const int saved = errno;
  leave();
  raise(SIGSTOP);
  enter();  // `fg` brought us back
  resize = 1;
  errno = saved;
}

static const int kSignals[] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGTSTP};
static struct sigaction previous[sizeof kSignals / sizeof *kSignals];

bool Screen::possible() {
  const char* term = std::getenv("TERM");
  return is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && term && std::strcmp(term, "dumb") != 0 && *term;
}

Screen::Screen() {
  tcgetattr(STDIN_FILENO, &before);
  for (std::size_t i = 0; i < sizeof kSignals / sizeof *kSignals; ++i) {
    struct sigaction action = {};
    action.sa_handler = i == 0 ? on_resize : kSignals[i] == SIGTSTP ? on_stop : on_end;
    sigaction(kSignals[i], &action, &previous[i]);
  }
  enter();
  measure();
}

Screen::~Screen() {
  for (std::size_t i = 0; i < sizeof kSignals / sizeof *kSignals; ++i) sigaction(kSignals[i], &previous[i], nullptr);
  leave();
}

void Screen::measure() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
  rows_ = size.ws_row;
  columns_ = size.ws_col;
}

// One byte; -1: none within so many milliseconds (-1: wait), or the end, or a signal.
static int byte(int wait) {
  pollfd ready = {STDIN_FILENO, POLLIN, 0};
  if (wait >= 0 && poll(&ready, 1, wait) <= 0) return -1;
  unsigned char c = 0;
  return read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

int Screen::key() {
  if (!resize) {
    errno = 0;
    const int c = byte(-1);
    if (c >= 0 && c != 0x1b) return c == 4 ? int(end) : c;  // Ctrl-D
    if (c < 0 && !resize && errno != EINTR) return end;
    if (c == 0x1b) {
      const int bracket = byte(50);
      if (bracket < 0) return escape;
      int letter = byte(50);
      const int number = letter;
      while (letter >= '0' && letter <= ';') letter = byte(50);  // \x1b[5~ and the like
      switch (letter) {
        case 'A': return up;
        case 'B': return down;
        case 'C': return right;
        case 'D': return left;
        case 'H': return first;
        case 'F': return last;
        case '~': return number == '5' ? page_up : number == '6' ? page_down : number == '1' ? first : number == '4' ? last : other;
        default: return other;
      }
    }
  }
  resize = 0;
  measure();
  return resized;
}

// So many columns of a line: a colour code takes none, and a character that is not ASCII takes one.
static std::string cut(const std::string& line, int columns) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && line[i] != 'm') out += line[i++];
      if (i < line.size()) out += line[i];
      continue;
    }
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;
    if (begins && columns-- == 0) return out + "\x1b[0m";
    out += line[i];
  }
  return out;
}

void Screen::show(const std::vector<std::string>& lines, std::size_t from, const std::string& bottom) {
  std::string text = "\x1b[H";
  for (int r = 0; r + 1 < rows_; ++r) {
    const std::size_t k = from + std::size_t(r);
    if (k < lines.size()) text += cut(lines[k], columns_);
    text += "\x1b[K\n";
  }
  text += cut(bottom, columns_ - 1) + "\x1b[K";
  put_raw(text.data(), text.size());
}

}  // namespace glass

#endif
