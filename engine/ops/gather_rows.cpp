// Y = rows of a table, by index             table: V x C    ids: n numbers in [0, V)    Y: n x C
//
//   Y_i = table_(ids_i)                       dtable_(ids_i) += dY_i
//
// The same as onehot(ids) · table, without the zeros. An index that comes twice gets both gradients.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct GatherRowsOp final : Op, Detailed {
  Ints ids;
  explicit GatherRowsOp(Ints i) : ids(i) {}
  const char* name() const override { return "gather_rows"; }
  void details(Details& d) const override { d.add("ids", ids); }
  Cost cost(const Step& s, Pass pass) const override {  // the rows that are touched, not the table
    const double index = ids.n * double(sizeof(int));
    return pass == Pass::forward ? Cost{0, 2 * bytes_in(s.y) + index} : Cost{numbers_in(s.dy), 3 * bytes_in(s.dy) + index};
  }
  void forward(Step& s) override { s.be.gather_rows(s.x[0], ids, s.y); }
  void backward(Step& s) override {
    Mat dY = s.dy, dTable = s.dx[0];
    s.be.scatter_rows(dY, ids, dTable);
  }
};

Var gather_rows(Var table, const int* ids, int n, Where where) {
  require_same_tape("gather_rows", {{"table", table}});
  const Shape t = table.shape();
  for (int i = 0; i < n; ++i) {
    if (ids[i] >= 0 && ids[i] < t.rows) continue;
    shape_error("gather_rows", "index " + std::to_string(ids[i]) + " (number " + std::to_string(i) + " of the list) is not a row of the table",
                {{"table", table}}, "its rows are 0 to " + std::to_string(t.rows - 1), where);
  }
  return table.tape->record<GatherRowsOp>(Shape{n, t.cols}, {table}, where, table.tape->ints(ids, n));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
