// show() and show_gradient(): matrices of the tape as figures.
#include <fmt/format.h>

#include <chrono>
#include <algorithm>
#include <cmath>

#include "engine/io/csv.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::string Page::name_of(Var v) const {
  const Node& n = tape.node(v);
  return *n.name ? n.name : "%" + std::to_string(v.id);
}

bool Page::shown(const std::string& name) const {
  if (options.only.empty()) return true;
  for (const std::string& n : options.only)
    if (n == name) return true;
  return options.spell_row >= 0 && name == asked();
}

bool Page::csv_wanted(const std::string& name, Mat m) {
  if (options.csv == name) csv_ = to_csv(m);
  return options.csv == name;
}

Block Page::block(Var v, const std::string& title, Mat values) const {
  Block b;
  b.title = title;
  b.values = values;
  const auto found = axes_.find(v.id);
  if (found != axes_.end()) {
    b.rows = found->second.rows;
    b.cols = found->second.cols;
  }
  for (std::string& s : b.rows) s = spelled(s);
  for (std::string& s : b.cols) s = spelled(s);
  return b;
}

// A weight that is 0 because its score was hidden is drawn apart from one that is only small.
static std::vector<bool> hidden_weights(const Tape& tape, Var v) {
  const Node& n = tape.node(v);
  if (std::string(n.op) != "softmax") return {};
  const HostView E(tape.be, tape.nodes[std::size_t(n.in[0])].value);
  std::vector<bool> hidden;
  for (int r = 0; r < n.value.rows; ++r)
    for (int c = 0; c < n.value.cols; ++c) hidden.push_back(std::isinf(E(r, c)));
  return hidden;
}

void Page::show(std::initializer_list<Var> vars, const Labels& rows, const Labels& cols) {
  begin();
  std::vector<Block> blocks;
  for (Var v : vars) {
    const Node& n = tape.node(v);
    if (!rows.empty() || !cols.empty()) axes_[v.id] = {rows, cols};
    const std::string name = name_of(v);
    csv_wanted(name, n.value);
    if (!shown(name)) continue;
    blocks.push_back(block(v, fmt::format(" {}  %{}  {}", name, v.id, to_text(n.value.rows, n.value.cols)), n.value));
    blocks.back().hidden = hidden_weights(tape, v);
  }
  if (!blocks.empty()) put(figure(blocks, style()));
  asked_spelling(vars, false);
}

void Page::show_row_sums(Var A, const Labels& rows, const Labels& cols) {
  begin();
  axes_[A.id] = {rows, cols};
  const Node& n = tape.node(A);
  const std::string name = name_of(A);
  csv_wanted(name, n.value);
  if (shown(name)) {
    Block b = block(A, fmt::format(" {}  %{}  {}", name, A.id, to_text(n.value.rows, n.value.cols)), n.value);
    b.hidden = hidden_weights(tape, A);
    b.extra_title = "sum";
    const Matrix sums = by_hand::row_sums(n.value);
    for (int r = 0; r < sums.rows(); ++r) b.extra.push_back(double(sums(r, 0)));
    put(figure({b}, style()));
  }
  asked_spelling({A}, false);
}

// How many entries of x to nudge: all of a small matrix, a sample where each nudge replays much arithmetic.
static long sample_size(Mat x) { return long(x.rows) * x.cols <= 400 ? 400 : 64; }

std::string Page::verdict_of_gradient(Var v) {
  if (on_device() && !options.reference.empty()) return verdict_by_reference(v);
  static const auto start = std::chrono::steady_clock::now();
  const std::string name = name_of(v);
  const bool slow = std::chrono::steady_clock::now() - start > std::chrono::seconds(2);
  if (slow) progress("checking d" + name + " by central differences ...");
  const GradGap gap = gradient_gap(tape, root_, seed_, v, sample_size(v.value()));
  if (slow) progress("");
  std::string text = below(gradient_tolerance());
  if (gap.checked < gap.entries) text += fmt::format(", {} of {} tried", gap.checked, gap.entries);
  if (!gap.ok()) {
    text = fmt::format("WRONG at {}: {} taped, {} by differences", entry_text(gap.row, gap.col), to_text(gap.taped), to_text(gap.numeric));
  }
  verdicts_.push_back({"d" + name + " = central differences", text, gap.ok()});
  return text;
}

void Page::show_gradient(std::initializer_list<Var> vars) {
  std::vector<Block> blocks;
  for (Var v : vars) {
    const Node& n = tape.node(v);
    const std::string name = "d" + name_of(v), verdict = verdict_of_gradient(v);
    csv_wanted(name, v.grad());
    if (!shown(name)) continue;
    blocks.push_back(block(v, fmt::format(" {}  {}", name, to_text(n.value.rows, n.value.cols)), v.grad()));
    const std::string text = painted(v.id == root_.id ? "given" : verdict, verdict[0] == 'o' ? "32" : "31");
    blocks.back().footer = {fmt::format(" norm {} {}", number(by_hand::norm(v.grad()), options.digits), text)};
  }
  if (!blocks.empty()) put(figure(blocks, style()));
  asked_spelling(vars, true);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
