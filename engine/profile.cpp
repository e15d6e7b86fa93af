// The stopwatch. What it measured as text: profile_table.cpp.
#include "engine/profile.h"

#include <algorithm>
#include <chrono>

namespace glass {
inline namespace GLASS_PRECISION {

static double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Profile::Profile() {
  clock_ = 1e9;
  for (int i = 0; i < 100; ++i) {
    const double start = now();
    clock_ = std::min(clock_, now() - start);
  }
}

// The line that runs, until its op returns or throws.
struct Profile::Inside {
  Inside(Profile& p, int line) : profile(p), outer(p.current_), outer_inside(p.inside_) {
    p.current_ = line;
    p.inside_ = 0;
  }
  ~Inside() {
    profile.current_ = outer;
    profile.inside_ = outer_inside;
  }
  Profile& profile;
  int outer;
  double outer_inside;
};

int Profile::line_of(const Op& op, const Step& s) {
  const Node& n = s.tape.nodes[std::size_t(s.id)];
  const auto [place, fresh] = places_.try_emplace({current_, s.id, op.name(), n.value.rows, n.value.cols}, int(lines.size()));
  if (fresh) lines.push_back({op.name(), s.id, current_, n.name, n.scope, n.where, {}, {}});
  Line& line = lines[std::size_t(place->second)];
  if (line.name != n.name) line.name = n.name;  // a name is given after the line is recorded
  return place->second;
}

void Profile::run(Op& op, Step& s, Pass pass) {
  const double came = current_ < 0 ? 0 : now();
  const int line = line_of(op, s);
  double took;
  {
    const Inside inside(*this, line);
    Side& before = pass == Pass::forward ? lines[std::size_t(line)].forward : lines[std::size_t(line)].backward;
    if (before.calls == 0) before.cost = op.cost(s, pass);
    const double start = now();
    pass == Pass::forward ? op.forward(s) : op.backward(s);
    took = std::max(now() - start - clock_ - inside_, 0.0);
  }
  Side& side = pass == Pass::forward ? lines[std::size_t(line)].forward : lines[std::size_t(line)].backward;
  side.least = side.calls == 0 ? took : std::min(side.least, took);
  side.total += took;
  ++side.calls;
  if (current_ >= 0) inside_ += now() - came;
}

void Profile::forward(Op& op, Step& s) { run(op, s, Pass::forward); }
void Profile::backward(Op& op, Step& s) { run(op, s, Pass::backward); }

void Profile::clear() {
  lines.clear();
  places_.clear();
  step_ns = 0;
}

// ---------------------------------------------------------------------------------- sums

double Profile::Line::ns(long steps) const { return forward.ns(steps) + backward.ns(steps); }

Cost Profile::Line::cost(long steps) const {
  const double f = double(forward.calls) / double(std::max(steps, 1L)), b = double(backward.calls) / double(std::max(steps, 1L));
  return {f * forward.cost.flops + b * backward.cost.flops, f * forward.cost.bytes + b * backward.cost.bytes};
}

long Profile::runs() const {
  long most = 0;
  for (const Line& l : lines)
    if (l.parent < 0) most = std::max(most, l.forward.calls);
  return most;
}

double Profile::ns() const {
  double sum = 0;
  for (const Line& l : lines) sum += l.ns(runs());
  return sum;
}

Cost Profile::cost() const {
  Cost sum;
  for (const Line& l : lines) sum += l.cost(runs());
  return sum;
}

static bool slower(const Profile::Total& a, const Profile::Total& b) { return a.ns > b.ns; }

std::vector<Profile::Total> Profile::by_op() const {
  const long n = runs();
  std::map<std::string, Total> sums;
  for (const Line& l : lines) {
    Total& t = sums[l.op];
    t.op = l.op;
    t.calls += double(l.forward.calls + l.backward.calls) / double(std::max(n, 1L));
    t.ns += l.ns(n);
    t.cost += l.cost(n);
  }
  std::vector<Total> all;
  for (const auto& [op, total] : sums) all.push_back(total);
  std::stable_sort(all.begin(), all.end(), slower);
  return all;
}

std::vector<Profile::Line> Profile::by_time() const {
  const long n = runs();
  std::vector<Line> all = lines;
  std::stable_sort(all.begin(), all.end(), [n](const Line& a, const Line& b) { return a.ns(n) > b.ns(n); });
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
