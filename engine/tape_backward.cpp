// The way back: three walks over the list, each one screen.
//
//   1. mark_reached        from the root down: which lines does the root depend on?
//   2. lay_out_gradients   up again: memory for their gradients, zeroed; the root gets the seed dL/droot
//   3. the sweep           from the root down: each op turns dL/dy into dL/dx and ADDS it to its inputs
//
// Zeroing costs a pass over the memory, and adding to zeros another. So a gradient is left as it is where the first line
// that the sweep meets can store instead of add: stored_by. Never that of a parameter (it keeps what earlier sweeps
// gave), of a view (it is a part of its parent's), or of a line that is seen through a view or listed twice by that line.
//
// Because every line comes after its inputs, a line's gradient is complete when the sweep arrives at it:
// all lines that use it have a higher number and were visited before.
#include "engine/nonfinite.h"
#include "engine/params.h"
#include "engine/profile.h"
#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

void Tape::backward(Var root) {
  check(root, "backward");
  const Shape s = root.shape();
  if (s != Shape{1, 1}) {
    throw TapeError("backward: " + label(*this, root.id) + " is " + to_text(s.rows, s.cols) +
                    ", not a single number.\n  Give the seed dL/d" + (*nodes[std::size_t(root.id)].name ? nodes[std::size_t(root.id)].name : "y") +
                    ", a matrix of the same shape: backward(root, seed); or reduce it to 1 x 1 first, say with sum().");
  }
  Real one = 1;  // dL/dL
  backward(root, Mat{&one, 1, 1, 1});
}

void Tape::backward(Var root, Mat seed) {
  check_before_backward(root, seed);
  mark_reached(root.id);
  lay_out_gradients(root.id, seed);
  swept_from_ = root.id;
  for (int id = root.id; id >= 0; --id) {
    const Node& n = nodes[std::size_t(id)];
    if (!n.reached || !n.rule) continue;
    Step s = step(id);
    profile ? profile->backward(*n.rule, s) : n.rule->backward(s);
    if (watch_nonfinite) inspect_gradients(s);
  }
}

void Tape::check_before_backward(Var root, Mat seed) const {
  check(root, "backward");
  const Node& r = node(root);
  if (seed.shape() != r.value.shape()) {
    throw ShapeError("backward: the seed is " + to_text(seed.rows, seed.cols) + ", but " + label(*this, root.id) + " is " +
                     to_text(r.value.rows, r.value.cols) + "; a gradient has the shape of its value");
  }
  if (!r.needs_grad) {
    throw TapeError("backward: nothing that leads to " + label(*this, root.id) +
                    " wants a gradient: it is made of constants and detached values only");
  }
  if (swept_from_ >= 0) {
    throw TapeError("backward: this tape was already swept, from " + label(*this, swept_from_) +
                    ".\n  A second sweep would add every gradient once more. Call clear_gradients() to start afresh.");
  }
  if (r.finite == Finite::no) throw_nonfinite(*this, root.id);
}

void Tape::mark_reached(int root) {
  nodes[std::size_t(root)].reached = true;
  nodes[std::size_t(root)].stored_by = -1;
  for (int id = root; id >= 0; --id) {
    const Node& n = nodes[std::size_t(id)];
    if (!n.reached) continue;
    if (n.param && n.param->version != n.version) {
      const std::string who = n.param->name + " (%" + std::to_string(id) + ")";
      clear_gradients();
      throw TapeError("backward: the parameter " + who + " was changed after the tape used it, by set() or an "
                      "optimiser step.\n  Call replay() first, or record the step again.");
    }
    for (int i = 0; i < n.n_in; ++i) {
      Node& input = nodes[std::size_t(n.in[i])];
      if (input.changed) {
        clear_gradients();
        throw TapeError("backward: " + label(*this, n.in[i]) + " was changed by set() after " + label(*this, id) +
                        " had used it, so the recorded values no longer belong together.\n  Call replay() first.");
      }
      if (!input.needs_grad) continue;
      if (!input.reached) {
        input.reached = true;
        input.stored_by = input.own_grad && n.rule && !zero_first && n.rule->stores(i) ? id : -1;
      } else if (input.stored_by == id || !n.rule) {
        input.stored_by = -1;  // listed twice, or n is a view of it
      }
    }
  }
}

void Tape::lay_out_gradients(int root, Mat seed) {
  for (int id = 0; id <= root; ++id) {
    Node& n = nodes[std::size_t(id)];
    if (!n.reached) continue;
    if (n.own_grad) {
      n.grad = {carve(grads_, n.value.shape()), n.value.rows, n.value.cols, n.value.cols};
      if (n.stored_by < 0) be.fill(n.grad, 0);
    } else if (n.param) {
      n.grad = n.param->grad;  // not zeroed: gradients of several sweeps add up until zero_grad()
    } else if (n.lent) {
      n.grad = *n.lent;  // as above, for the tape that lent it
    } else {
      const Mat parent = nodes[std::size_t(n.view_of)].grad;
      n.grad = parent.block(n.view_r, n.view_c, n.value.rows, n.value.cols);
    }
  }
  // The seed is host memory; it is added, for the root may be a parameter that already has a gradient.
  const Mat on_device = {carve(grads_, seed.shape()), seed.rows, seed.cols, seed.cols};
  be.from_host(seed, on_device);
  be.add_scaled(1, on_device, nodes[std::size_t(root)].grad);
}

void Step::give(int i, Real factor, Mat d) {
  if (adds[i]) be.add_scaled(factor, d, dx[i]);
  else if (factor == 1) be.copy(d, dx[i]);
  else be.scale(d, factor, dx[i]);
}

void Tape::clear_gradients() {
  note_peak();
  for (Node& n : nodes) {
    n.grad = {};
    n.reached = false;
    n.stored_by = -1;
  }
  grads_.rewind({});
  swept_from_ = -1;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
