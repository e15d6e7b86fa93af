// The explanations of engine/why_text.h with a page's words and its arithmetic.
#pragma once

#include "engine/why_text.h"
#include "tutorials/page/speller.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct PageTeller final : WhyTeller {
  PageTeller(Page& p, Tape& t) : WhyTeller(t), speller{p, t} {}
  const Speller speller;
  std::string words(const Entry&) const override;  // "cat, mat": the labels that the lesson gave
  std::string arithmetic(const Entry& e) const override { return speller.forward(e.line, e.row, e.col); }
};

}  // namespace GLASS_PRECISION
}  // namespace glass
