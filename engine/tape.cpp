// Recording, views, memory and replay. The way back is in tape_backward.cpp, handles and their errors in var.cpp.
#include "engine/tape.h"

#include <cstdio>
#include <cstring>

#include "engine/params.h"
#include "engine/profile.h"

namespace glass {
inline namespace GLASS_PRECISION {

Tape::Tape(Backend& backend) : be(backend), ops_(cpu_backend()), values_(backend), grads_(backend) {
#ifdef NDEBUG
  watch_nonfinite = false;
#else
  watch_nonfinite = true;
#endif
}

// ---------------------------------------------------------------------------------- recording

Var Tape::push(const Node& line, Where where) {
  nodes.push_back(line);
  Node& n = nodes.back();
  n.where = where;
  n.scope = scope;
  n.age = age;
  gone_.reserve(nodes.capacity());  // now, so that rewind_to() makes no heap call
  return {this, int(nodes.size()) - 1, age};
}

Var Tape::append(Op* op, Shape out, const Var* in, int n_in, Where where) {
  Node n;
  n.op = op->name();
  n.rule = op;
  n.n_in = n_in;
  int* ids = static_cast<int*>(ops_.take(std::size_t(n_in) * sizeof(int), alignof(int)));
  n.in = ids;
  for (int i = 0; i < n_in; ++i) {
    check(in[i], n.op);
    ids[i] = in[i].id;
    n.needs_grad |= nodes[std::size_t(in[i].id)].needs_grad;
  }
  n.needs_grad &= recording;
  n.value = scratch(out);
  const Var y = push(n, where);

  Step s = step(y.id);
  s.decide = true;
  profile ? profile->forward(*op, s) : op->forward(s);
  if (watch_nonfinite) inspect(y.id);
  return y;
}

Var Tape::append_leaf(const char* op, Mat values, const char* name, bool needs_grad, Where where) {
  Node n;
  n.op = op;
  n.name = intern(name);
  n.value = scratch(values.shape());
  be.from_host(values, n.value);
  n.needs_grad = needs_grad && recording;
  const Var leaf = push(n, where);
  if (watch_nonfinite) inspect(leaf.id);
  return leaf;
}

Var Tape::input(Mat values, const char* name, Where where) { return append_leaf("input", values, name, true, where); }

Var Tape::constant(Mat values, const char* name, Where where) {
  return append_leaf("constant", values, name, false, where);
}

Var Tape::use(Param& p, Where where) {
  Node n;
  n.op = "param";
  n.name = intern(p.name.c_str());
  n.value = p.value;
  n.needs_grad = recording;
  n.param = &p;
  n.version = p.version;
  const Var leaf = push(n, where);
  if (watch_nonfinite) inspect(leaf.id);
  return leaf;
}

Var Tape::borrow(Mat value, Mat grad, const char* name, Where where) {
  Node n;
  n.op = "borrowed";
  n.name = intern(name);
  n.value = value;
  n.needs_grad = grad.data && recording;
  n.lent = new (ops_.take(sizeof(Mat), alignof(Mat))) Mat(grad);
  return push(n, where);
}

Var Tape::view(Var of, int r0, int c0, int nr, int nc, Where where) {
  check(of, "view");
  const Node& parent = nodes[std::size_t(of.id)];
  Node n;
  n.op = "view";
  n.value = parent.value.block(r0, c0, nr, nc);
  int* ids = static_cast<int*>(ops_.take(sizeof(int), alignof(int)));
  *ids = of.id;
  n.in = ids;
  n.n_in = 1;
  n.view_of = of.id;
  n.view_r = r0;
  n.view_c = c0;
  n.needs_grad = parent.needs_grad && recording;
  n.finite = parent.finite;
  return push(n, where);
}

Var Tape::expose(Mat field, const char* name, Where where) {
  Node n;
  n.op = "field";
  n.name = intern(name);
  n.value = field;
  return push(n, where);
}

void Tape::set(Var leaf, Mat values) {
  check(leaf, "set");
  Node& n = nodes[std::size_t(leaf.id)];
  if (n.param || n.rule || n.view_of >= 0) {
    throw TapeError("set: " + label(*this, leaf.id) + (n.param ? " is a parameter: use Param::set" : " was computed, it is not a leaf"));
  }
  if (values.shape() != n.value.shape()) {
    throw ShapeError("set: " + label(*this, leaf.id) + " is " + to_text(n.value.rows, n.value.cols) +
                     ", the new value is " + to_text(values.rows, values.cols));
  }
  be.from_host(values, n.value);
  for (std::size_t id = std::size_t(leaf.id) + 1; id < nodes.size(); ++id) {
    for (int i = 0; i < nodes[id].n_in; ++i) n.changed |= nodes[id].in[i] == leaf.id;
  }
}

// ---------------------------------------------------------------------------------- memory and names

Mat Tape::carve(Arena& arena, Shape s) {
  const std::size_t bytes = std::size_t(count(s)) * sizeof(Real);
  // a whole cache line for what a vector unit reads; less for the single numbers of a lesson
  return {static_cast<Real*>(arena.take(bytes, bytes < 64 ? 16 : 64)), s.rows, s.cols, s.cols};
}

Mat Tape::scratch(Shape s) { return carve(values_, s); }

Ints Tape::ints(int n) { return {static_cast<int*>(values_.take(std::size_t(n) * sizeof(int), alignof(int))), n}; }

Ints Tape::ints(const int* host, int n) {
  Ints mine = ints(n);
  be.upload(host, mine.data, std::size_t(n) * sizeof(int));
  return mine;
}

Keep Tape::keep(Keep host) {
  const std::size_t n = std::size_t(count({host.rows, host.cols}));
  Keep mine{static_cast<unsigned char*>(values_.take(n, 1)), host.rows, host.cols};
  be.upload(host.data, mine.data, n);
  return mine;
}

Tape& Tape::inner() {
  if (!inner_) inner_ = std::make_unique<Tape>(be);
  inner_->watch_nonfinite = watch_nonfinite;
  inner_->profile = profile;
  return *inner_;
}

void Tape::rewind_to(Mark to) {
  note_peak();
  if (gone_.size() < nodes.size()) gone_.resize(nodes.size());
  for (std::size_t id = to.nodes; id < nodes.size(); ++id) {
    gone_[id] = {nodes[id].op, nodes[id].name, nodes[id].age};
  }
  nodes.erase(nodes.begin() + std::ptrdiff_t(to.nodes), nodes.end());
  ops_.rewind(to.ops);
  values_.rewind(to.values);
  ++age;
  if (swept_from_ >= int(to.nodes)) clear_gradients();
  if (first_nonfinite >= int(to.nodes)) first_nonfinite = -1;
}

const char* Tape::intern(const char* text) {
  const auto found = names_.find(std::string_view(text));
  return (found != names_.end() ? found : names_.emplace(text).first)->c_str();
}

Scope::Scope(Tape& t, const char* name) : tape(t), before(t.scope) {
  char path[256];  // not a std::string: entering a scope makes no heap call
  std::snprintf(path, sizeof path, "%s%s%s", before, *before ? "/" : "", name);
  tape.scope = tape.intern(path);
}

// ---------------------------------------------------------------------------------- replay

Step Tape::step(int id) {
  const Node& n = nodes[std::size_t(id)];
  if (int(x_.size()) < n.n_in) {
    x_.resize(std::size_t(n.n_in));
    dx_.resize(std::size_t(n.n_in));
  }
  for (int i = 0; i < n.n_in; ++i) {
    const Node& input = nodes[std::size_t(n.in[i])];
    x_[std::size_t(i)] = input.value;
    dx_[std::size_t(i)] = input.needs_grad ? input.grad : Mat{};
  }
  return {be, *this, id, x_.data(), dx_.data(), n.n_in, n.value, n.grad, false};
}

void Tape::rerun(int from, int to) {
  for (int id = from; id <= to; ++id) {
    Op* rule = nodes[std::size_t(id)].rule;
    if (!rule) continue;
    Step s = step(id);
    profile ? profile->forward(*rule, s) : rule->forward(s);
  }
}

void Tape::replay() {
  clear_gradients();
  first_nonfinite = -1;
  for (int id = 0; id < int(nodes.size()); ++id) {
    rerun(id, id);
    Node& n = nodes[std::size_t(id)];
    if (n.param) n.version = n.param->version;
    n.changed = false;
    if (watch_nonfinite) inspect(id);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
