// Y = entries added up by place             X: n x m    places: n·m numbers r C + c    Y: R x C
//
//   Y at place_k += X_k                       dX_k = dY at place_k         k counts the entries of X row by row
//
// Y starts at 0. Entries with the same place add up. The way back is gather_entries.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ScatterEntriesOp final : Op, Detailed {
  Ints places;
  Mat taken;  // scratch for backward
  ScatterEntriesOp(Ints p, Mat t) : places(p), taken(t) {}
  const char* name() const override { return "scatter_entries"; }
  void details(Details& d) const override { d.add("places", places); }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    const double index = places.n * double(sizeof(int));
    if (pass == Pass::forward) return {numbers_in(s.x[0]), bytes_in(s.y) + 3 * bytes_in(s.x[0]) + index};
    return {numbers_in(s.x[0]), 3 * bytes_in(s.x[0]) + index};
  }
  void forward(Step& s) override {
    s.be.fill(s.y, 0);
    s.be.add_at(s.x[0], places, s.y);
  }
  void backward(Step& s) override {
    Mat dY = s.dy, dX = s.dx[0];
    s.be.take_at(dY, places, taken);
    s.be.add_scaled(1, taken, dX);
  }
};

Var scatter_entries(Var x, const int* places, Shape shape, Where where) {
  require_same_tape("scatter_entries", {{"entries", x}});
  const int n = int(count(x.shape()));
  require_places("scatter_entries", "entries", x, places, n, shape, where);
  return x.tape->record<ScatterEntriesOp>(shape, {x}, where, x.tape->ints(places, n), x.tape->scratch(x.shape()));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
