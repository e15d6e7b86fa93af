// Recording, views, memory and replay. The way back is in tape_backward.cpp, handles and their errors in var.cpp.
#include "engine/tape.h"

#include "engine/params.h"
#include "engine/profile.h"

namespace glass {
inline namespace GLASS_PRECISION {

Tape::Tape(Backend& backend) : be(backend), ops_(cpu_backend()), values_(backend), grads_(backend) {
#ifdef NDEBUG
  watch_nonfinite = zero_first = false;
#else
  watch_nonfinite = zero_first = true;
#endif
  make_room(4);
}

// ---------------------------------------------------------------------------------- recording

Node& Tape::push(const char* op, Where where) {
  if (nodes.size() >= gone_.capacity()) gone_.reserve(2 * nodes.size() + 32);  // now, so that rewind_to() makes no heap call
  Node& n = nodes.emplace_back(op, where);
  n.scope = scope;
  n.age = age;
  return n;
}

void Tape::make_room(int n_in) {  // for what step() hands out
  x_.resize(std::size_t(n_in));
  dx_.resize(std::size_t(n_in));
  adds_ = std::make_unique<bool[]>(std::size_t(n_in));
}

Var Tape::append(Op* op, Shape out, const Var* in, int n_in, Where where) {
  if (n_in > int(x_.size())) make_room(n_in);
  const char* name = op->name();
  int* ids = static_cast<int*>(ops_.take(std::size_t(n_in) * sizeof(int), alignof(int)));
  bool needs_grad = false;
  for (int i = 0; i < n_in; ++i) {
    check(in[i], name);
    ids[i] = in[i].id;
    needs_grad |= nodes[std::size_t(in[i].id)].needs_grad;
  }
  Real* data = carve(values_, out);
  Node& n = push(name, where);
  n.rule = op;
  n.in = ids;
  n.n_in = n_in;
  n.needs_grad = needs_grad && recording;
  n.value = {data, out.rows, out.cols, out.cols};

  const Var y = last();
  Step s = step(y.id);
  s.decide = true;
  profile ? profile->forward(*op, s) : op->forward(s);
  if (watch_nonfinite) inspect(y.id);
  return y;
}

Var Tape::append_leaf(const char* op, Mat values, const char* name, bool needs_grad, Where where) {
  const Mat mine = scratch(values.shape());
  be.from_host(values, mine);
  name = intern(name);
  Node& n = push(op, where);
  n.name = name;
  n.value = mine;
  n.needs_grad = needs_grad && recording;
  if (watch_nonfinite) inspect(last().id);
  return last();
}

Var Tape::input(Mat values, const char* name, Where where) { return append_leaf("input", values, name, true, where); }

Var Tape::constant(Mat values, const char* name, Where where) {
  return append_leaf("constant", values, name, false, where);
}

Var Tape::use(Param& p, Where where) {
  const char* name = intern(p.name.c_str());
  Node& n = push("param", where);
  n.name = name;
  n.value = p.value;
  n.needs_grad = recording;
  n.own_grad = false;
  n.param = &p;
  n.version = p.version;
  if (watch_nonfinite) inspect(last().id);
  return last();
}

Var Tape::view(Var of, int r0, int c0, int nr, int nc, Where where) {
  check(of, "view");
  const Mat block = nodes[std::size_t(of.id)].value.block(r0, c0, nr, nc);
  int* id = static_cast<int*>(ops_.take(sizeof(int), alignof(int)));
  *id = of.id;
  Node& n = push("view", where);
  const Node& parent = nodes[std::size_t(of.id)];
  n.value = block;
  n.in = id;
  n.n_in = 1;
  n.own_grad = false;
  n.view_of = of.id;
  n.view_r = r0;
  n.view_c = c0;
  n.needs_grad = parent.needs_grad && recording;
  n.finite = parent.finite;
  return last();
}

// ---------------------------------------------------------------------------------- memory

Real* Tape::carve(Arena& arena, Shape s) {
  const std::size_t bytes = std::size_t(count(s)) * sizeof(Real);
  // a whole cache line for what a vector unit reads; less for the single numbers of a lesson
  return static_cast<Real*>(arena.take(bytes, bytes < 64 ? 16 : 64));
}

Mat Tape::scratch(Shape s) { return {carve(values_, s), s.rows, s.cols, s.cols}; }

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

// ---------------------------------------------------------------------------------- replay

Step Tape::step(int id) {
  const Node *all = nodes.data(), &n = all[id];
  Mat *x = x_.data(), *dx = dx_.data();
  bool* adds = adds_.get();
  const int n_in = n.n_in, *in = n.in;
  for (int i = 0; i < n_in; ++i) {
    const Node& input = all[in[i]];
    x[i] = input.value;
    dx[i] = input.grad;
    adds[i] = input.stored_by != id;
  }
  return {be, *this, id, x, dx, adds, n_in, n.value, n.grad, false};
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
