#include "engine/rule_alone.h"

#include <cstring>

namespace glass {
inline namespace GLASS_PRECISION {

WhyCell owner(const Tape& tape, WhyCell at) {
  for (const Node* n = &tape.nodes[std::size_t(at.line)]; n->view_of >= 0; n = &tape.nodes[std::size_t(at.line)]) {
    at = {n->view_of, at.row + n->view_r, at.col + n->view_c};
  }
  return at;
}

double read(const Tape& tape, Mat m, int row, int col) {
  Real x = 0;
  tape.be.to_host(m.block(row, col, 1, 1), Mat{&x, 1, 1, 1});
  return double(x);
}

RuleAlone::RuleAlone(Tape& t, int line, bool every_operand)
    : tape(t), id(line), n(t.nodes[std::size_t(line)]), dy(n.value.shape(), &t.be), watch(t.watch_nonfinite), profile(t.profile) {
  if (std::strcmp(n.op, "recompute") == 0 && !tape.inner().nodes.empty()) {
    throw TapeError("why: " + label(tape, id) + " is at work right now; ask when it is done");
  }
  adds = std::make_unique<bool[]>(std::size_t(n.n_in));
  for (int i = 0; i < n.n_in; ++i) {
    const Node& input = tape.nodes[std::size_t(n.in[i])];
    x.push_back(input.value);
    memory.push_back(every_operand || input.needs_grad ? Matrix(input.value.shape(), &tape.be) : Matrix());
    adds[std::size_t(i)] = true;
    keep(tape.nodes[std::size_t(owner(tape, {n.in[i], 0, 0}).line)].param);
  }
  for (const Matrix& m : memory) dx.push_back(m.view());
  tape.watch_nonfinite = false;
  tape.profile = nullptr;
}

RuleAlone::~RuleAlone() {
  if (ran && n.reached && n.grad.data) run_backward(n.grad);  // what the rule left in fields for show, say D of flash attention, is back
  for (const auto& [p, grad] : kept) tape.be.copy(grad, p->grad);
  tape.watch_nonfinite = watch;
  tape.profile = profile;
}

void RuleAlone::keep(const Param* p) {
  for (const auto& k : kept)
    if (k.first == p) return;
  if (!p) return;
  Matrix grad(p->grad.shape(), &tape.be);
  tape.be.copy(p->grad, grad);
  kept.emplace_back(p, std::move(grad));
}

Step RuleAlone::step(Mat y, Mat cotangent) {
  return {tape.be, tape, id, x.data(), dx.data(), adds.get(), n.n_in, y, cotangent, false};
}

void RuleAlone::backward() {
  run_backward(dy);
  ran = true;
}

void RuleAlone::run_backward(Mat cotangent) {
  for (const Matrix& m : memory) tape.be.fill(m, 0);
  for (const auto& k : kept) tape.be.fill(k.first->grad, 0);
  Step s = step(n.value, cotangent);
  n.rule->backward(s);
}

void RuleAlone::forward(Mat y) {
  Step s = step(y, Mat{});
  n.rule->forward(s);
}

std::vector<WhyUse> uses(const Tape& tape, const Node& y, const WhyCell& x) {
  std::vector<WhyUse> all;
  const Node& own = tape.nodes[std::size_t(x.line)];
  for (int i = 0; i < y.n_in; ++i) {
    const WhyCell corner = owner(tape, {y.in[i], 0, 0});
    const Node& other = tape.nodes[std::size_t(corner.line)];
    const bool same = corner.line == x.line || (own.grad.data && own.grad.data == other.grad.data);  // a parameter may be used twice
    const int row = x.row - corner.row, col = x.col - corner.col;
    if (same && inside(tape.nodes[std::size_t(y.in[i])].value, row, col)) all.push_back({i, row, col});
  }
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
