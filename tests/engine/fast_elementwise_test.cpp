// The fast kernels that take numbers one by one, broadcast, sum or move them, against their plain twins: for every width of
// vectors that this processor has, odd sizes, views, NaN and infinity, and any number of threads.
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cpu/cpu.h"
#include "engine/cpu/fast.h"
#include "engine/cpu/threads.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {

CpuBackend plain;

struct Operands {
  Mat a, b, d, row, col, one;
  Keep keep;
  Ints ids;
};

enum class Out { full, row, col, one, flipped };

struct Kernel {
  const char* name;
  Out out;
  bool adds;   // to what stands in y
  bool exact;  // the same bits as the plain kernel: no sum whose order could differ, nothing to fuse
  void (*run)(Backend&, const Operands&, Mat y);
};

const Kernel kernels[] = {
    {"copy", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.copy(o.a, y); }},
    {"fill", Out::full, false, true, [](Backend& be, const Operands&, Mat y) { be.fill(y, Real(1.5)); }},
    {"fill 0", Out::full, false, true, [](Backend& be, const Operands&, Mat y) { be.fill(y, 0); }},
    {"fill -0", Out::full, false, true, [](Backend& be, const Operands&, Mat y) { be.fill(y, Real(-0.0)); }},
    {"add", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.add(o.a, o.b, y); }},
    {"sub", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.sub(o.a, o.b, y); }},
    {"mul", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.mul(o.a, o.b, y); }},
    {"div", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.div(o.a, o.b, y); }},
    {"scale", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.scale(o.a, Real(0.3), y); }},
    {"add_number", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.add_number(o.a, Real(0.3), y); }},
    {"add_scalar", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.add_scalar(o.a, o.one, y); }},
    {"mul_scalar", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.mul_scalar(o.a, o.one, y); }},
    {"add_scaled", Out::full, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_scaled(Real(0.3), o.a, y); }},
    {"add_mul_scalar", Out::full, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_mul_scalar(o.a, o.one, y); }},
    {"add_product", Out::full, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_product(o.a, o.b, y); }},
    {"add_quotient", Out::full, true, true, [](Backend& be, const Operands& o, Mat y) { be.add_quotient(o.a, o.d, y); }},
    {"div_backward_left", Out::full, true, true, [](Backend& be, const Operands& o, Mat y) { be.div_backward_left(o.d, o.b, y); }},
    {"div_backward_right", Out::full, true, false, [](Backend& be, const Operands& o, Mat y) { be.div_backward_right(o.d, o.a, o.b, y); }},

    {"add_row", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.add_row(o.a, o.row, y); }},
    {"sub_row", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.sub_row(o.a, o.row, y); }},
    {"mul_row", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.mul_row(o.a, o.row, y); }},
    {"div_row", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.div_row(o.a, o.row, y); }},
    {"add_mul_row", Out::full, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_mul_row(o.a, o.row, y); }},
    {"div_row_backward", Out::full, true, true, [](Backend& be, const Operands& o, Mat y) { be.div_row_backward(o.d, o.row, y); }},
    {"add_col", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.add_col(o.a, o.col, y); }},
    {"sub_col", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.sub_col(o.a, o.col, y); }},
    {"mul_col", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.mul_col(o.a, o.col, y); }},
    {"div_col", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.div_col(o.a, o.col, y); }},
    {"add_mul_col", Out::full, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_mul_col(o.a, o.col, y); }},
    {"div_col_backward", Out::full, true, true, [](Backend& be, const Operands& o, Mat y) { be.div_col_backward(o.d, o.col, y); }},

    {"sum", Out::one, false, false, [](Backend& be, const Operands& o, Mat y) { be.sum(o.a, Real(0.5), y); }},
    {"add_sum", Out::one, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_sum(o.a, y); }},
    {"add_dot", Out::one, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_dot(o.a, o.b, y); }},
    {"norm", Out::one, false, false, [](Backend& be, const Operands& o, Mat y) { be.norm(o.a, y); }},
    {"add_row_sums", Out::col, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_row_sums(Real(0.5), o.a, y); }},
    {"add_row_dots", Out::col, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_row_dots(o.a, o.b, y); }},
    {"add_col_sums", Out::row, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_col_sums(Real(0.5), o.a, y); }},
    {"add_col_dots", Out::row, true, false, [](Backend& be, const Operands& o, Mat y) { be.add_col_dots(o.a, o.b, y); }},

    {"select", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.select(o.a, o.keep, Real(-7), y); }},
    {"choose", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.choose(o.a, o.b, o.keep, y); }},
    {"add_selected", Out::full, true, true, [](Backend& be, const Operands& o, Mat y) { be.add_selected(o.a, o.keep, y); }},
    {"add_unselected", Out::full, true, true, [](Backend& be, const Operands& o, Mat y) { be.add_unselected(o.a, o.keep, y); }},
    {"dropout", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.dropout(o.a, 0.3, 77, y); }},
    {"dropout 0", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.dropout(o.a, 0, 77, y); }},
    {"dropout 1", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.dropout(o.a, 1, 77, y); }},
    {"dropout_backward", Out::full, true, false, [](Backend& be, const Operands& o, Mat y) { be.dropout_backward(o.a, 0.6, 5, y); }},
    {"transpose", Out::flipped, false, true, [](Backend& be, const Operands& o, Mat y) { be.transpose(o.a, y); }},
    {"add_transposed", Out::flipped, true, true, [](Backend& be, const Operands& o, Mat y) { be.add_transposed(o.a, y); }},
    {"gather_rows", Out::full, false, true, [](Backend& be, const Operands& o, Mat y) { be.gather_rows(o.b, o.ids, y); }},
    {"scatter_rows", Out::full, true, true, [](Backend& be, const Operands& o, Mat y) { be.scatter_rows(o.a, o.ids, y); }},
};

struct Trial {  // operands of R x C, as views of wider matrices where gap > 0
  int R, C;
  Rng rng{9};
  Matrix a, b, d, row, col, one;
  std::vector<unsigned char> keep;
  std::vector<int> ids;
  int gap;

  Trial(int rows, int cols, int g) : R(rows), C(cols), gap(g) {
    a = random_matrix({R, C + gap}, rng), b = random_matrix({R, C + gap}, rng), d = random_matrix({R, C + gap}, rng);
    row = random_matrix({1, C}, rng), col = random_matrix({R, 1 + gap}, rng), one = random_matrix({1, 1}, rng);
    for (int i = 0; i < R; ++i)
      for (int j = 0; j < C + gap; ++j)
        if (rng.uniform() < 0.2) d(i, j) = 0;
    for (int k = 0; k < R * C; ++k) keep.push_back(rng.uniform() < 0.4 ? 0 : rng.uniform() < 0.5 ? 1 : 255);
    for (int i = 0; i < R; ++i) ids.push_back(int(rng.uniform() * (R > 4 ? R / 4 : R)));  // many come twice
  }
  Mat view(const Matrix& m) const { return m.view().block(0, gap, m.rows(), m.cols() - gap); }
  Operands operands() { return {view(a), view(b), view(d), row, view(col), one, {keep.data(), R, C}, {ids.data(), R}}; }
  Shape shape(Out out) const {
    switch (out) {
      case Out::row: return {1, C};
      case Out::col: return {R, 1};
      case Out::one: return {1, 1};
      case Out::flipped: return {C, R};
      case Out::full: break;
    }
    return {R, C};
  }
  // What stands in y before: noise, or NaN where it is overwritten. The gap must stay as it is.
  Matrix run(const Kernel& k, Backend& be) {
    const Shape s = shape(k.out);
    Rng noise(3);
    Matrix y = random_matrix({s.rows, s.cols + gap}, noise);
    const Mat part = y.view().block(0, gap, s.rows, s.cols);
    if (!k.adds) plain.fill(part, std::numeric_limits<Real>::quiet_NaN());
    k.run(be, operands(), part);
    return y;
  }
};

// The largest distance, relative above 1; 0 for two NaN or two equal infinities, infinity for one of them alone.
double gap_of(Mat got, Mat want) {
  double worst = 0;
  for (int i = 0; i < got.rows; ++i)
    for (int j = 0; j < got.cols; ++j) {
      const double x = double(got(i, j)), y = double(want(i, j));
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double d = std::fabs(x - y) / (1 + std::fabs(y));
      worst = d > worst ? d : d == d ? worst : std::numeric_limits<double>::infinity();
    }
  return worst;
}

void check_all(Backend& be, Trial& trial, bool bits) {
  for (const Kernel& k : kernels) {
    const Matrix got = trial.run(k, be), want = trial.run(k, plain);
    INFO(k.name << " " << trial.R << " x " << trial.C << ", gap " << trial.gap);
    if (k.exact && bits) CHECK(bit_difference(got, want) == "");
    else CHECK(gap_of(got, want) <= (k.exact ? 0 : kDouble ? 1e-14 + 1e-17 * trial.R * trial.C : 2e-6));  // the plain sums round too
  }
}

}  // namespace

TEST_CASE("fast kernels by numbers, rows, columns and sums are their plain twins") {
  for (int bytes : {16, 32, 64}) {
    Backend* be = fast_cpu(bytes);
    if (!be) continue;
    INFO(bytes << " bytes");
    for (int R : {1, 2, 5, 16, 35, 150})
      for (int C : {1, 2, 7, 8, 16, 17, 33, 70, 131})
        for (int gap : {0, 3}) {
          Trial trial(R, C, gap);
          check_all(*be, trial, true);
        }
    for (Shape empty : {Shape{0, 3}, Shape{3, 0}, Shape{0, 0}}) {
      Trial trial(empty.rows, empty.cols, 1);
      check_all(*be, trial, true);
    }
  }
}

TEST_CASE("fast kernels hand NaN, infinity and -0 on as their plain twins do") {
  const Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  for (int bytes : {16, 32, 64}) {
    Backend* be = fast_cpu(bytes);
    if (!be) continue;
    INFO(bytes << " bytes");
    Trial trial(6, 41, 2);
    int at = 0;
    for (Matrix* m : {&trial.a, &trial.b, &trial.d})
      for (Real special : {nan, inf, -inf, Real(0), Real(-0.0)})
        for (int k = 0; k < 4; ++k, at += 7) (*m)(at / 40 % 6, 2 + at % 41) = special;
    check_all(*be, trial, false);
  }
}

TEST_CASE("fast kernels give the same bits for any number of threads") {
  for (int bytes : {16, 32, 64}) {
    Backend* be = fast_cpu(bytes);
    if (!be) continue;
    for (Shape s : {Shape{101, 2111}, Shape{3, 70001}, Shape{70003, 3}})
      for (int gap : {0, 5}) {
        Trial trial(s.rows, s.cols, gap);
        set_threads(1);
        std::vector<Matrix> alone;
        for (const Kernel& k : kernels) alone.push_back(trial.run(k, *be));
        for (int threads : {2, 3}) {
          set_threads(threads);
          for (std::size_t k = 0; k < alone.size(); ++k) {
            INFO(kernels[k].name << " " << s.rows << " x " << s.cols << ", gap " << gap << ", " << threads << " threads, " << bytes << " bytes");
            CHECK(bit_difference(trial.run(kernels[k], *be), alone[k]) == "");
          }
        }
        set_threads(0);
        if (s.rows == 101) check_all(*be, trial, true);
      }
  }
}

TEST_CASE("fast AdamW is the plain one, for any number of threads") {
  const AdamWStep step{0.01, 0.999, 0.9, 0.99, 1e-8, 1 - std::pow(0.9, 3), 1 - std::pow(0.99, 3)};
  for (int bytes : {16, 32, 64}) {
    Backend* be = fast_cpu(bytes);
    if (!be) continue;
    for (Shape s : {Shape{1, 1}, Shape{3, 19}, Shape{1, 100003}})
      for (int gap : {0, 2}) {
        INFO(bytes << " bytes, " << s.rows << " x " << s.cols << ", gap " << gap);
        Rng rng(4);
        const Shape wide{s.rows, s.cols + gap};
        const Matrix g = random_matrix(wide, rng), m = random_matrix(wide, rng), w = random_matrix(wide, rng);
        Matrix v = random_matrix(wide, rng);
        plain.mul(v, v, v);
        g.view().row(0)[gap] = 0;
        Matrix mp = m, vp = v, wp = w;
        const auto part = [&](const Matrix& x) { return x.view().block(0, gap, s.rows, s.cols); };
        plain.adamw(part(g), step, part(mp), part(vp), part(wp));
        Matrix first;
        for (int threads : {1, 2, 3}) {
          set_threads(threads);
          Matrix mf = m, vf = v, wf = w;
          be->adamw(part(g), step, part(mf), part(vf), part(wf));
          const Tolerance close = kDouble ? Tolerance{1e-14, 1e-15} : Tolerance{3e-6, 3e-7};
          CHECK(difference(mf, mp, close) == "");
          CHECK(difference(vf, vp, close) == "");
          CHECK(difference(wf, wp, close) == "");
          if (threads == 1) first = wf;
          CHECK(bit_difference(wf, first) == "");
        }
        set_threads(0);
      }
  }
}
