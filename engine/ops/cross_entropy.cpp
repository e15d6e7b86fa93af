// y = mean cross-entropy of rows against classes     x: R x K logits    targets: R class numbers    y: 1 x 1
//
//   P = softmax(x)            q_ij = (1 - ε) [j = target_i] + ε / K         (label smoothing, ε = 0: one-hot)
//   y = mean over the rows that count of  -Σ_j q_ij ln P_ij
//   dx_ij = dy (P_ij - q_ij) / number of rows that count
//
// A row whose target is `ignore` does not count; if none counts, y = 0 and dx = 0. Softmax and logarithm together:
// no logarithm of 0, and the gradient is a plain difference. (Smoothing: Szegedy et al. 2016, section 7.)
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct CrossEntropyOp final : Op, Detailed {
  Ints targets;
  int ignore;
  double smoothing;
  Mat P;  // softmax(x)
  CrossEntropyOp(Ints t, int i, double e, Mat p) : targets(t), ignore(i), smoothing(e), P(p) {}
  const char* name() const override { return "cross_entropy"; }
  void details(Details& d) const override { d.add("targets", targets); d.add("ignore", ignore); d.add("smoothing", smoothing); }
  const char* hazard() const override { return "the logit of a target is -inf: its class is impossible"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // back: P instead of x, which is as large
    Cost c = per_entry(s, pass, kCurve + 5, 3);
    if (pass == Pass::forward) c.bytes += bytes_in(P);
    return c;
  }
  void forward(Step& s) override { s.be.cross_entropy(s.x[0], targets, ignore, smoothing, P, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.cross_entropy_backward(P, targets, ignore, smoothing, dy, dx);
  }
};

Var cross_entropy(Var x, const int* targets, int n, CrossEntropy options, Where where) {
  require_same_tape("cross_entropy", {{"logits", x}});
  const Shape s = x.shape();
  if (n != s.rows) {
    shape_error("cross_entropy", "there are " + std::to_string(n) + " targets for " + std::to_string(s.rows) + " rows", {{"logits", x}}, "", where);
  }
  for (int i = 0; i < n; ++i) {
    if (targets[i] == options.ignore || (targets[i] >= 0 && targets[i] < s.cols)) continue;
    shape_error("cross_entropy", "target " + std::to_string(targets[i]) + " of row " + std::to_string(i) + " is not a class",
                {{"logits", x}}, "the classes are 0 to " + std::to_string(s.cols - 1), where);
  }
  if (!(options.smoothing >= 0 && options.smoothing < 1)) {
    throw InputError("cross_entropy: smoothing must be from 0 to below 1, not " + to_text(options.smoothing));
  }
  return x.tape->record<CrossEntropyOp>(Shape{1, 1}, {x}, where, x.tape->ints(targets, n), options.ignore, options.smoothing,
                                        x.tape->scratch(s));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
