// Y = entries of a matrix, by place         X: R x C    places: n·m numbers r C + c    Y: n x m
//
//   Y_k = X at place_k                        dX at place_k += dY_k        k counts the entries of Y row by row
//
// An entry that is taken twice gets both gradients. The way back is scatter_entries.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct GatherEntriesOp final : Op, Detailed {
  Ints places;
  explicit GatherEntriesOp(Ints p) : places(p) {}
  const char* name() const override { return "gather_entries"; }
  void details(Details& d) const override { d.add("places", places); }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // the entries that are touched
    const double index = places.n * double(sizeof(int));
    return pass == Pass::forward ? Cost{0, 2 * bytes_in(s.y) + index} : Cost{numbers_in(s.dy), 3 * bytes_in(s.dy) + index};
  }
  void forward(Step& s) override { s.be.take_at(s.x[0], places, s.y); }
  void backward(Step& s) override {
    Mat dY = s.dy, dX = s.dx[0];
    s.be.add_at(dY, places, dX);
  }
};

Var gather_entries(Var x, const int* places, Shape shape, Where where) {
  require_same_tape("gather_entries", {{"matrix", x}});
  const int n = int(count(shape));
  require_places("gather_entries", "matrix", x, places, n, x.shape(), where);
  return x.tape->record<GatherEntriesOp>(shape, {x}, where, x.tape->ints(places, n));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
