// Theme J, matrix products and threads: old numbers in buffers, empty products, several tapes at once.
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "engine/ops.h"
#include "layers/attention/flash.h"
#include "layers/attention/multi_head.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("J08 a product overwrites what its buffer held, also NaN, at every size") {
  Rng rng(1);
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const int n : {1, 3, 17, 33, 65}) {
    for (const Product product : {Product::NN, Product::NT, Product::TN}) {
      const Matrix a = random_matrix({n, n}, rng), b = random_matrix({n, n}, rng);
      Matrix c(Shape{n, n}), clean(Shape{n, n});
      cpu_backend().fill(c, nan);
      cpu_backend().matmul(product, a, b, c, false);
      cpu_backend().matmul(product, a, b, clean, false);
      CHECK(bit_difference(c, clean) == "");
      bool finite = true;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) finite = finite && std::isfinite(c(i, j));
      CHECK(finite);
    }
  }
}

TEST_CASE("J10 a matrix times itself and its transpose: a result is never its operand's memory") {
  Tape tape;
  const Var A = tape.input(Matrix{{1, 2, 3}, {4, 5, 6}}, "A"), B = tape.input(Matrix{{1, 2}, {3, 4}}, "B");
  const Var t = transpose(A), square = matmul(B, B);
  CHECK(difference(t.value(), Matrix{{1, 4}, {2, 5}, {3, 6}}) == "");
  CHECK(difference(square.value(), Matrix{{7, 10}, {15, 22}}) == "");
  CHECK(t.value().data != A.value().data);
  CHECK(square.value().data != B.value().data);
}

TEST_CASE("J12 a product over nothing is zero, and its gradients are empty") {
  Tape tape;
  const Var a = tape.input(Matrix(Shape{2, 0}), "a"), b = tape.input(Matrix(Shape{0, 3}), "b"), y = matmul(a, b);
  CHECK(difference(y.value(), Matrix(Shape{2, 3})) == "");
  tape.backward(y, Matrix{{1, 2, 3}, {4, 5, 6}});
  CHECK(a.grad().shape() == Shape{2, 0});
  CHECK(b.grad().shape() == Shape{0, 3});
}

// Attention on a tape of the thread's own; then a call that must fail. Leaves the result, or what went wrong.
static void attend(int number, Matrix* y, Matrix* dq, std::string* error) {
  Rng rng(7);
  const Matrix q = random_matrix({12, 8}, rng), k = random_matrix({12, 8}, rng), v = random_matrix({12, 8}, rng),
               dY = random_matrix({12, 8}, rng);
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  const FlashAttention flash;
  const Variant& variant = number % 2 ? static_cast<const Variant&>(flash) : plain_attention;
  const Var Y = multi_head(Q, K, V, {.heads = 2}, variant);
  tape.backward(Y, dY);
  *y = Matrix(Y.value());
  *dq = Matrix(Q.grad());
  try {
    multi_head(Q, K, V, {.heads = 3});
  } catch (const ShapeError& e) {
    *error = e.what();
  }
}

TEST_CASE("J13 attention on four threads, a tape each: the numbers of one thread, and an error reaches its caller") {
  const int n = 4;
  std::vector<Matrix> y(n), dq(n);
  std::vector<std::string> errors(n);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back(attend, i, &y[std::size_t(i)], &dq[std::size_t(i)], &errors[std::size_t(i)]);
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < n; ++i) {
    Matrix want_y, want_dq;
    std::string error;
    attend(i, &want_y, &want_dq, &error);
    CHECK(bit_difference(y[std::size_t(i)], want_y) == "");
    CHECK(bit_difference(dq[std::size_t(i)], want_dq) == "");
    CHECK(errors[std::size_t(i)] == error);
    CHECK(error.find("cannot be cut into 3 heads") != std::string::npos);
  }
}
