// What the terminal can do, and careful writing to it.
#pragma once

#include <string>

namespace glass {

bool is_terminal(int descriptor);         // 1 is standard output, 2 standard error
bool utf8_locale();                       // false if LC_ALL, LC_CTYPE or LANG names a locale without UTF-8
bool use_color(const std::string& when);  // auto: a terminal, TERM not dumb, NO_COLOR unset or empty
int terminal_width();                     // of the terminal; 80 for a pipe or a file, or if it makes no sense

// Writes to standard output now. A closed pipe ends the program quietly; a full disk throws InputError.
void write_out(const std::string&);

// Text from outside on a terminal: control characters could move the cursor or recolour the screen.
std::string printable(const std::string&);

}  // namespace glass
