// The arithmetic of one entry in words: for --spell and --why.
#pragma once

#include <string>
#include <vector>

#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Speller {
  const Page& page;
  Tape& tape;

  std::string place(int id, int r, int c, bool gradient) const;    // "dA[cat,mat]": with the labels that the lesson gave
  std::string forward(int id, int r, int c) const;                 // what the rule of line `id` computed: "0.5·2 + 1·3"
  std::vector<std::string> gradient(int id, int r, int c) const;   // one line for each place where the value is used

 private:
  std::string term(int id, int r, int c) const;
  std::string backward(int user, int slot, int r, int c) const;
  double sent(int user, int slot, Mat dx, int r, int c) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
