// --step, as a person sees it: single keys on a terminal, or a transcript of the commands that come in on standard input.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "tutorials/page/screen.h"
#include "tutorials/page/terminal.h"
#include "tutorials/page/walk.h"

namespace glass {
inline namespace GLASS_PRECISION {

static std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return lines;
}

// ---------------------------------------------------------------------------------- a transcript

static void transcript(Walk& walk) {
  int n = 0;
  write_out("The tape, step by step. Commands, one a line:\n" + walk.command("h") + "\n" + walk.here());
  for (std::string line; !walk.over() && std::getline(std::cin, line);) {
    write_out(fmt::format("\n[{}] {}\n", ++n, printable(line)));
    write_out(walk.command(line));
  }
}

// ---------------------------------------------------------------------------------- a terminal

// Typed at the bottom, until Enter; "" after Escape.
static std::string asked(Screen& screen, const std::vector<std::string>& lines, std::size_t from, const std::string& prompt) {
  std::string typed;
  while (true) {
    screen.show(lines, from, prompt + typed + "_");
    const int key = screen.key();
    if (key == Screen::end || key == Screen::escape) return "";
    if (key == '\r' || key == '\n') return typed;
    if (key == 0x7f || key == '\b') {
      while (!typed.empty() && (static_cast<unsigned char>(typed.back()) & 0xc0) == 0x80) typed.pop_back();  // the rest of a character
      if (!typed.empty()) typed.pop_back();
    } else if (key >= ' ') {
      typed += char(key);
    }
  }
}

static std::string typed_command(Screen& screen, int key, const std::vector<std::string>& lines, std::size_t from) {
  std::string what;
  switch (key) {
    case ' ': case '\n': case '\r': case 'f': case Screen::right: return "f";
    case 'b': case 0x7f: case '\b': case Screen::left: return "b";
    case Screen::first: case '0': return "0";
    case Screen::last: case '$': return "$";
    case 'j': what = asked(screen, lines, from, "jump to (A, dA, %7): "); break;
    case 'w': what = asked(screen, lines, from, "why (dW_q[1,2]): "); break;
    case 'n': what = asked(screen, lines, from, "nudge (W_q[1,2] 0.1): "); break;
    case 's': case 't': case 'h': case '?': case 'q': return std::string(1, char(key));
    default: return "";
  }
  return what.empty() ? "" : std::string(1, char(key)) + " " + what;
}

static void on_screen(Walk& walk, bool ascii) {
  Screen screen;
  std::vector<std::string> lines = lines_of(walk.here());
  std::size_t from = 0;
  while (!walk.over()) {
    const std::size_t room = std::size_t(std::max(1, screen.rows() - 1)), most = lines.size() > room ? lines.size() - room : 0;
    from = std::min(from, most);
    const std::string keys = ascii ? "space,b step  s sweep  j jump  w why  n nudge  t tape  h help  q quit" : "→ ← step  s sweep  j jump  w why  n nudge  t tape  h help  q quit";
    const std::string scroll = most ? fmt::format("{} {}-{}/{}  ", ascii ? "up/down" : "↑↓", from + 1, std::min(from + room, lines.size()), lines.size()) : "";
    screen.show(lines, from, fmt::format("\x1b[7m {}/{}  {}{} \x1b[0m", walk.at() + 1, walk.steps(), scroll, keys));
    const int key = screen.key();
    if (key == Screen::end) return;
    if (key == Screen::up && from > 0) --from;
    if (key == Screen::down) ++from;
    if (key == Screen::page_up) from -= std::min(from, room);
    if (key == Screen::page_down) from += room;
    const std::string command = typed_command(screen, key, lines, from);
    if (command.empty()) continue;
    lines = lines_of(walk.command(command));
    from = 0;
  }
}

void Page::walk() {
  if (walked_) return;
  walked_ = true;
  if (tape.nodes.empty()) throw InputError("--step: nothing is on the page's tape; this lesson works on tapes of its own");
  begin();
  Walk walk(*this);
  Screen::possible() ? on_screen(walk, options.ascii) : transcript(walk);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
