// Causal attention through the tape, forward and backward; and one op on 1 x 1 values, where there is next to no arithmetic.
#include "engine/ops.h"
#include "layers/attention/flash.h"
#include "layers/attention/multi_head.h"
#include "tests/bench/ours.h"

using namespace glass;

namespace bench {

// Q, K, V, Y: (B T) x (H D)
struct AttentionWork final : Work {
  int B, H, T;
  Matrix q, k, v, dY;
  Mask causal;
  FlashAttention flash;
  Tape tape;
  long asked_before, asked = 0;  // bytes
  AttentionWork(int b, int h, int t, int d)
      : B(b), H(h), T(t), q(numbers(b * t, h * d, 1)), k(numbers(b * t, h * d, 2)), v(numbers(b * t, h * d, 3)), dY(numbers(b * t, h * d, 4)), causal(Mask::causal(t, t)), asked_before(count_heap_bytes()) {}
  void once() override {
    tape.rewind();
    const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    tape.backward(multi_head(Q, K, V, Heads{.batch = B, .heads = H, .mask = &causal}, flash), dY);
    if (!asked) asked = count_heap_bytes() - asked_before;  // the first call takes all memory that there will ever be
  }
  // extra: beyond Q, K, V, Y and their gradients, scratch of the threads included. square: a T x T matrix.
  void figures(std::map<std::string, double>& out) override {
    const double one = double(q.rows()) * q.cols() * sizeof(Real);
    out["bytes"] = double(tape.peak_bytes());
    out["extra"] = double(asked) - 8 * one;
    out["square"] = double(T) * T * sizeof(Real);
  }
};

struct OneByOneWork final : Work {
  int n;
  Matrix a{{1.0001}}, b{{1e-6}};
  Tape tape;
  explicit OneByOneWork(int lines) : n(lines) { per = lines; }
  void once() override {
    tape.rewind();
    const Var x = tape.input(a, "a"), y = tape.input(b, "b");
    Var z = x;
    for (int i = 0; i < n; i += 2) z = add(mul(z, x), y);
    tape.backward(z);
  }
};

std::unique_ptr<Work> attention_work(const Request& r) {
  if (r.is("attention", 4)) return std::make_unique<AttentionWork>(r.size[0], r.size[1], r.size[2], r.size[3]);
  if (r.is("op", 1)) return std::make_unique<OneByOneWork>(r.size[0]);
  return nullptr;
}

}  // namespace bench
