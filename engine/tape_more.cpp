// What a tape can do beside recording and going back: lent and exposed memory, changed leaves, names, lists, an inner tape.
#include <cstdio>

#include "engine/debug/calls.h"
#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

Var Tape::borrow(Mat value, Mat grad, const char* name, Where where) {
  const Mat* lent = new (ops_.take(sizeof(Mat), alignof(Mat))) Mat(grad);
  name = intern(name);
  Node& n = push("borrowed", where);
  n.name = name;
  n.value = value;
  n.needs_grad = grad.data && recording;
  n.own_grad = false;
  n.lent = lent;
  return last();
}

Var Tape::expose(Mat field, const char* name, Where where) {
  name = intern(name);
  Node& n = push("field", where);
  n.name = name;
  n.value = field;
  return last();
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
  inner_->zero_first = zero_first;
  return *inner_;
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

// Only a debugger calls it: this keeps the linker from leaving it out.
[[gnu::used]] static const auto kept_for_debuggers = &debug_checkgrad;

}  // namespace GLASS_PRECISION
}  // namespace glass
