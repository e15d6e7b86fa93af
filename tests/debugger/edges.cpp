// What printers and commands must survive: views, numbers that are not, empty and huge and senseless matrices, handles to
// nothing, a tape in the middle of a record. edges.gdb and edges.lldb look at it.
#include <limits>

#include "engine/hooks.h"
#include "engine/ops.h"
#include "engine/params.h"

using namespace glass;

static void matrices() {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Matrix one{{7}}, no_rows(Shape{0, 3}), no_cols(Shape{3, 0}), empty;
  const Matrix special{{nan, inf, -inf}, {0, -0.0, 1e-9}, {-123456.5, -1e12, 1e30}};
  Matrix big(Shape{40, 50});
  for (int r = 0; r < 40; ++r)
    for (int c = 0; c < 50; ++c) big(r, c) = Real(r - 20) * Real(c + 1) / 50;
  Matrix other = big;
  other(39, 49) += Real(0.5);
  other(3, 4) = Real(nan);
  const Mat view = big.view().block(1, 2, 2, 3), wide = big.view().block(4, 5, 2, 30), column = big.view().block(0, 7, 3, 1);
  const Mat no_data{nullptr, 4, 5, 5}, negative{one.view().data, -3, 4, 4}, crossed{one.view().data, 2, 5, 3};
  const Mat nowhere{reinterpret_cast<Real*>(64), 2000000000, 2000000000, 2000000000};
  const Shape s{2, 3};
  glass_step("matrices", 1);
  (void)no_data, (void)negative, (void)crossed, (void)nowhere, (void)s, (void)view, (void)wide, (void)column, (void)other;
}

int main() {
  matrices();

  Rng rng(3);
  ParamStore store;
  Param& W = store.make("W_q", {2, 2}, Init::xavier, rng);
  const Matrix lent{{2, -1}, {0.5, 3}};
  Tape tape;
  const Var nothing, w = tape.use(W), x = tape.input(Matrix{{1, -2}, {3, 0.5}}, "x");
  const Tape::Mark here = tape.mark();
  const Var old = scale(x, 2).named("old");
  tape.rewind_to(here);
  const Var first = tape.rows(x, 0, 1), u = tape.constant(Matrix{{2}, {-1}}, "u");
  const Var b = tape.borrow(lent, {}, "a lent one"), y = mul(matmul(x, w), b).named("two words");
  glass_step("lines", 2);
  const Var z = sub_col(y, u);
  const Var loss = sum(z).named("loss");
  tape.backward(loss);
  glass_step("swept", 3);
  (void)nothing, (void)old, (void)first;
}
