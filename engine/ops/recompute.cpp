// y = block(x_0, x_1, ...), without keeping what the block computes inside
//
//   forward:    y from an inner tape that does not record; then the inner tape is rewound
//   backward:   the block once more, recording; then back through it from dy. dx_i and the parameters' gradients are
//               the outer tape's own memory, so the sums come in the same order as without recompute
//
// Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost", section 3.
#include "engine/ops/check.h"
#include "engine/recompute.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct RecomputeOp final : Op {
  Recomputable* block;
  int n_in;     // inputs of the block; the parameters follow them
  Rng* before;  // the generators as they were when the block first ran
  int n_generators;
  RecomputeOp(Recomputable* b, int n, Rng* r, int g) : block(b), n_in(n), before(r), n_generators(g) {}
  const char* name() const override { return "recompute"; }
  const char* hazard() const override { return "something inside the block went wrong; record it without recompute to see where"; }
  bool mixes_entries() const override { return true; }

  // The block on the inner tape, with the generators as they were then; afterwards they are what they are now.
  Var run(const Step& s, bool again) {
    std::vector<Rng*> generators;
    block->generators(generators);
    std::vector<Rng> now;
    for (const Rng* g : generators) now.push_back(*g);  // all of them first: one may be listed twice
    for (int g = 0; again && g < n_generators; ++g) *generators[std::size_t(g)] = before[g];
    std::vector<Var> in;
    for (int i = 0; i < n_in; ++i) in.push_back(s.tape.inner().borrow(s.x[i], s.dx[i], "in"));
    const Var y = block->run(s.tape.inner(), in.data());
    for (int g = 0; again && g < n_generators; ++g) *generators[std::size_t(g)] = now[std::size_t(g)];
    return y;
  }
  Cost cost(const Step& s, Pass pass) const override {  // its own: the copy of y. What is inside is counted line by line
    return {0, pass == Pass::forward ? 2 * bytes_in(s.y) : bytes_in(s.dy)};
  }

  void forward(Step& s) override {
    Tape& inner = s.tape.inner();
    inner.rewind();
    inner.recording = false;
    const Var y = run(s, !s.decide);
    const Shape made = y.shape();
    if (made != s.y.shape()) {
      throw ShapeError("recompute: the block made " + to_text(made.rows, made.cols) + ", but said " + to_text(s.y.rows, s.y.cols));
    }
    s.be.copy(y.value(), s.y);
    inner.recording = true;
    finish(s.tape);
  }

  void backward(Step& s) override {
    Tape& inner = s.tape.inner();
    inner.rewind();
    inner.backward(run(s, true), HostView(s.be, s.dy));
    finish(s.tape);
  }

  static void finish(Tape& tape) {
    tape.note_peak(tape.inner().peak_bytes());
    tape.inner().rewind();
    tape.inner().forget_peak();
  }
};

Var recompute(Recomputable& block, const Var* in, int n, Where where) {
  if (n < 1) throw ShapeError("recompute: a block needs at least one input");
  for (int i = 0; i < n; ++i) require_same_tape("recompute", {{"first", in[0]}, {"other", in[i]}});
  Tape& tape = *in[0].tape;
  const Tape::Mark start = tape.mark();
  std::vector<Var> all(in, in + n);
  std::vector<Param*> params;
  block.parameters(params);
  for (Param* p : params) all.push_back(tape.use(*p, where));
  std::vector<Rng*> generators;
  block.generators(generators);
  Rng* before = static_cast<Rng*>(tape.raw(generators.size() * sizeof(Rng), alignof(Rng)));
  for (std::size_t g = 0; g < generators.size(); ++g) new (before + g) Rng(*generators[g]);
  try {
    return tape.record_many<RecomputeOp>(block.shape(in), all.data(), int(all.size()), where, &block, n, before, int(generators.size()));
  } catch (const ShapeError& e) {  // of a line inside: nothing stays recorded
    tape.inner().recording = true;
    tape.inner().rewind();
    tape.rewind_to(start);
    throw ShapeError(std::string("recompute: in the block: ") + e.what());
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
