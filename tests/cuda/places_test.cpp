// Kernels that go by index or mask: maxima and their places, the k largest, rows of a table, selection, pairs, rotary
// turns.
#include <cmath>

#include "tests/catch.h"
#include "tests/cuda/twin_problem.h"

using namespace glass;

static const char* const kOrders[] = {"forward", "reverse", "7"};

// Few different values, so that there are ties; a NaN and infinities here and there.
static Matrix with_ties(Shape s, Rng& rng, bool odd_ones) {
  Matrix x(s);
  for (int i = 0; i < s.rows; ++i) {
    for (int j = 0; j < s.cols; ++j) {
      x(i, j) = Real(int(rng.uniform() * 8) - 4) / 2;
      if (!odd_ones) continue;
      const double u = rng.uniform();
      if (u < 0.01) x(i, j) = std::numeric_limits<Real>::quiet_NaN();
      if (u > 0.9) x(i, j) = -std::numeric_limits<Real>::infinity();
    }
  }
  return x;
}

static std::vector<int> numbers_below(int end, int n, Rng& rng) {
  std::vector<int> v;
  for (int i = 0; i < n; ++i) v.push_back(int(rng.uniform() * end));
  return v;
}

static Ints ints(std::vector<int>& v) { return {v.data(), int(v.size())}; }

TEST_CASE("the first maximum or NaN of rows, columns and all, with its place") {
  CudaBackend be;
  Rng rng(3);
  for (const char* order : kOrders) {
    const ThreadOrder as(order);
    for (Shape s : twin_shapes()) {
      if (s.rows == 0 || s.cols == 0) continue;
      for (bool odd : {false, true}) {
        const Matrix x = with_ties(s, rng, odd), there = on_device(be, x);
        Matrix rows(Shape{s.rows, 1}), cols(Shape{1, s.cols}), all(Shape{1, 1});
        std::vector<int> r(std::size_t(s.rows)), c(std::size_t(s.cols)), a(1);
        cpu_backend().row_max(x, rows, ints(r));
        cpu_backend().col_max(x, cols, ints(c));
        cpu_backend().max(x, all, ints(a));
        const Matrix rows_there(rows.shape(), &be), cols_there(cols.shape(), &be), all_there(all.shape(), &be);
        const OnDevice<int> r_there(be, r), c_there(be, std::vector<int>(c.size())), a_there(be, {-1});
        be.row_max(there, rows_there, {r_there.data(), s.rows});
        be.col_max(there, cols_there, {c_there.data(), s.cols});
        be.max(there, all_there, {a_there.data(), 1});
        INFO(order << ", " << s.rows << " x " << s.cols);
        CHECK(r_there.host() == r);
        CHECK(c_there.host() == c);
        CHECK(a_there.host() == a);
        const Matrix y = to_host(be, rows_there);
        for (int i = 0; i < s.rows; ++i)
          CHECK((y(i, 0) == rows(i, 0) || (std::isnan(y(i, 0)) && std::isnan(rows(i, 0)))));
        const Matrix z = to_host(be, cols_there);
        for (int j = 0; j < s.cols; ++j)
          CHECK((z(0, j) == cols(0, j) || (std::isnan(z(0, j)) && std::isnan(cols(0, j)))));
      }
    }
  }
}

TEST_CASE("the k largest of each row are the CPU's: ties, NaN, -inf, and fewer than k") {
  CudaBackend be;
  Rng rng(4);
  for (const char* order : kOrders) {
    const ThreadOrder as(order);
    for (Shape s : {Shape{1, 1}, Shape{5, 7}, Shape{9, 31}, Shape{4, 32}, Shape{3, 33}, Shape{6, 100}}) {
      for (int k : {0, 1, 3, 40}) {
        const Matrix x = with_ties(s, rng, true);
        std::vector<unsigned char> want(std::size_t(s.rows * s.cols), 9);
        cpu_backend().top_k(x, k, {want.data(), s.rows, s.cols});
        const Matrix there = on_device(be, x);
        const OnDevice<unsigned char> chosen(be, std::vector<unsigned char>(want.size(), 9));
        be.top_k(there, k, {chosen.data(), s.rows, s.cols});
        INFO(order << ", k " << k << ", " << s.rows << " x " << s.cols);
        CHECK(chosen.host() == want);
      }
    }
  }
}

TEST_CASE("numbers are taken from places and added to places that come many times") {
  CudaBackend be;
  Rng rng(6);
  for (const char* order : kOrders) {
    const ThreadOrder as(order);
    for (Shape s : {Shape{1, 1}, Shape{3, 5}, Shape{8, 32}, Shape{33, 31}, Shape{60, 50}}) {
      for (Shape table : {Shape{1, 1}, Shape{4, 3}, Shape{16, 16}, Shape{40, 20}}) {
        std::vector<int> where = numbers_below(table.rows * table.cols, s.rows * s.cols, rng);
        const OnDevice<int> places(be, where);
        const Ints p{places.data(), int(where.size())};
        Matrix x = random_matrix(table, rng), y = random_matrix(s, rng);
        const Matrix x_there = on_device(be, x), y_there = on_device(be, y);
        cpu_backend().add_at(y, ints(where), x);
        be.add_at(y_there, p, x_there);
        INFO(order << ", " << s.rows << " x " << s.cols << " of " << table.rows << " x " << table.cols);
        CHECK(difference(to_host(be, x_there), x, {1e-5, 1e-4}) == "");  // the CPU's sums of 3000 numbers are in float
        cpu_backend().take_at(x, ints(where), y);
        be.from_host(x, x_there);
        be.take_at(x_there, p, y_there);
        CHECK(bit_difference(to_host(be, y_there), y) == "");
      }
    }
  }
}

TEST_CASE("rows are taken from a table, and rows with the same index are added in order, to the bit") {
  CudaBackend be;
  Rng rng(8);
  for (const char* order : kOrders) {
    const ThreadOrder as(order);
    for (int n : {1, 5, 31, 32, 33, 200}) {
      for (int width : {1, 33, 130}) {
        std::vector<int> ids = numbers_below(9, n, rng);
        const OnDevice<int> there(be, ids);
        Matrix table = random_matrix({9, width}, rng), rows = random_matrix({n, width}, rng);
        const Matrix table_there = on_device(be, table), rows_there = on_device(be, rows);
        cpu_backend().scatter_rows(rows, ints(ids), table);
        be.scatter_rows(rows_there, {there.data(), n}, table_there);
        INFO(order << ", " << n << " rows of " << width);
        CHECK(bit_difference(to_host(be, table_there), table) == "");
        cpu_backend().gather_rows(table, ints(ids), rows);
        be.gather_rows(table_there, {there.data(), n}, rows_there);
        CHECK(bit_difference(to_host(be, rows_there), rows) == "");
      }
    }
  }
}

TEST_CASE("what a mask leaves out stays out, even a NaN") {
  CudaBackend be;
  Rng rng(9);
  for (Shape s : {Shape{1, 1}, Shape{5, 31}, Shape{33, 32}, Shape{40, 65}}) {
    std::vector<unsigned char> mask;
    for (int k = 0; k < s.rows * s.cols; ++k) mask.push_back(rng.uniform() < 0.2);
    const OnDevice<unsigned char> mask_there(be, mask);
    const Keep keep{mask.data(), s.rows, s.cols}, keep_there{mask_there.data(), s.rows, s.cols};
    Matrix a = random_matrix(s, rng), b = random_matrix(s, rng), y(s);
    for (int i = 0; i < s.rows; ++i)
      for (int j = 0; j < s.cols; ++j)
        if (!keep(i, j)) a(i, j) = std::numeric_limits<Real>::quiet_NaN();
    const Matrix a_there = on_device(be, a), b_there = on_device(be, b), y_there(s, &be);
    cpu_backend().select(a, keep, Real(-0.5), y);
    be.select(a_there, keep_there, Real(-0.5), y_there);
    INFO(s.rows << " x " << s.cols);
    CHECK(bit_difference(to_host(be, y_there), y) == "");
    cpu_backend().choose(a, b, keep, y);
    be.choose(a_there, b_there, keep_there, y_there);
    CHECK(bit_difference(to_host(be, y_there), y) == "");
    cpu_backend().add_selected(a, keep, y);
    be.add_selected(a_there, keep_there, y_there);
    cpu_backend().add_unselected(b, keep, y);
    be.add_unselected(b_there, keep_there, y_there);
    CHECK(bit_difference(to_host(be, y_there), y) == "");

    Matrix keys = random_matrix({s.cols, 7}, rng), seen(Shape{s.cols, 7});
    const Matrix keys_there = on_device(be, keys), seen_there(seen.shape(), &be);
    cpu_backend().select_seen(keys, keep, seen);
    cpu_backend().add_seen(keys, keep, seen);
    be.select_seen(keys_there, keep_there, seen_there);
    be.add_seen(keys_there, keep_there, seen_there);
    CHECK(bit_difference(to_host(be, seen_there), seen) == "");
  }
}

TEST_CASE("rotary turns are the CPU's, in sequences and heads, and back") {
  CudaBackend be;
  Rng rng(10);
  for (Rotary::Pairs pairs : {Rotary::Pairs::interleaved, Rotary::Pairs::half}) {
    for (int dims : {-1, 0, 6}) {
      Rotary how;
      how.pairs = pairs, how.dims = dims, how.first = 100000, how.spacing = 0.75, how.batch = 3, how.heads = 2;
      const Matrix x = random_matrix({33, 20}, rng), there = on_device(be, x);
      Matrix y = random_matrix(x.shape(), rng);
      const Matrix y_there = on_device(be, y);
      cpu_backend().rotate_back(x, how, y);
      be.rotate_back(there, how, y_there);
      INFO(dims << (pairs == Rotary::Pairs::half ? " half" : " interleaved"));
      CHECK(difference(to_host(be, y_there), y, kRounding) == "");
      cpu_backend().rotate(x, how, y);
      be.rotate(there, how, y_there);
      CHECK(difference(to_host(be, y_there), y, kRounding) == "");
    }
  }
}

TEST_CASE("lists of pairs: dots, softmax, sums of rows and columns") {
  CudaBackend be;
  Rng rng(11);
  for (const char* order : kOrders) {
    const ThreadOrder as(order);
    for (int n : {1, 5, 33}) {
      for (int width : {1, 31, 70}) {
        const int keys = n + 3;
        std::vector<int> starts{0}, list;
        for (int i = 0; i < n; ++i) {  // query 2 sees none, the last sees all
          for (int j = 0; j < keys; ++j)
            if (i != 2 && (i == n - 1 || rng.uniform() < 0.3)) list.push_back(j);
          starts.push_back(int(list.size()));
        }
        const int m = int(list.size());
        const OnDevice<int> starts_there(be, starts), list_there(be, list);
        const PairList p{ints(starts), ints(list)}, q{{starts_there.data(), n + 1}, {list_there.data(), m}};
        const Matrix a = random_matrix({n, width}, rng), b = random_matrix({keys, width}, rng);
        Matrix e(Shape{m, 1}), w(Shape{m, 1}), d(Shape{m, 1}), y = random_matrix({n, width}, rng);
        Matrix z = random_matrix({keys, width}, rng), all(Shape{n, keys});
        const Matrix a2 = on_device(be, a), b2 = on_device(be, b), e2 = on_device(be, e), w2 = on_device(be, w);
        const Matrix d2 = on_device(be, d), y2 = on_device(be, y), z2 = on_device(be, z), all2 = on_device(be, all);
        INFO(order << ", " << n << " queries, width " << width);
        cpu_backend().pair_dots(a, b, p, Real(0.3), e);
        be.pair_dots(a2, b2, q, Real(0.3), e2);
        CHECK(difference(to_host(be, e2), e, kRounding) == "");
        cpu_backend().pair_softmax(e, p, w);
        be.pair_softmax(e2, q, w2);
        CHECK(difference(to_host(be, w2), w, kRounding) == "");
        cpu_backend().pair_softmax_backward(w, e, p, d);
        be.pair_softmax_backward(w2, e2, q, d2);
        CHECK(difference(to_host(be, d2), d, kRounding) == "");
        cpu_backend().add_pair_rows(Real(0.7), w, p, b, y);
        be.add_pair_rows(Real(0.7), w2, q, b2, y2);
        CHECK(difference(to_host(be, y2), y, kRounding) == "");
        cpu_backend().add_pair_cols(Real(0.7), w, p, a, z);
        be.add_pair_cols(Real(0.7), w2, q, a2, z2);
        CHECK(difference(to_host(be, z2), z, kRounding) == "");
        cpu_backend().spread_pairs(w, p, all);
        be.spread_pairs(w2, q, all2);
        CHECK(difference(to_host(be, all2), all, kRounding) == "");
      }
    }
  }
}

TEST_CASE("a softmax over pairs that are all -inf is zeros, and a NaN passes") {
  CudaBackend be;
  const Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  const OnDevice<int> starts(be, {0, 2, 4}), keys(be, {0, 1, 0, 1});
  const Matrix e = on_device(be, Matrix{{-inf}, {-inf}, {-inf}, {nan}});
  be.pair_softmax(e, {{starts.data(), 3}, {keys.data(), 4}}, e);
  const Matrix a = to_host(be, e);
  CHECK(a(0, 0) == 0);
  CHECK(a(1, 0) == 0);
  CHECK(std::isnan(a(2, 0)));
  CHECK(std::isnan(a(3, 0)));
}
