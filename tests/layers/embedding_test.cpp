#include "layers/embedding.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static const int words = 6, width = 3;

TEST_CASE("embedding: the row of a word gets the gradients of all its places, added up") {
  Rng rng(1);
  ParamStore store;
  const Embedding embed(store, "words", words, width, rng);
  embed.table->set(sines({words, width}, 1, 2, 1));
  Tape tape;
  const Var X = embed(tape, {4, 1, 4});
  CHECK(bit_difference(X.value().block(0, 0, 1, width), embed.table->value.view().block(4, 0, 1, width)) == "");
  CHECK(bit_difference(X.value().block(1, 0, 1, width), embed.table->value.view().block(1, 0, 1, width)) == "");

  tape.backward(X, Matrix{{1, 2, 3}, {10, 20, 30}, {100, 200, 300}});
  const Matrix want{{0, 0, 0}, {10, 20, 30}, {0, 0, 0}, {0, 0, 0}, {101, 202, 303}, {0, 0, 0}};
  CHECK(bit_difference(embed.table->grad, want) == "");
}

TEST_CASE("embedding: the same bits as one-hot rows times the table, forward and backward") {
  Rng rng(2);
  ParamStore store;
  const Embedding embed(store, "words", words, width, rng);
  const std::vector<int> ids{5, 0, 3, 3, 0, 3};
  const Matrix dX = random_matrix({6, width}, rng);
  Matrix one_hot(Shape{6, words});
  for (int i = 0; i < 6; ++i) one_hot(i, ids[std::size_t(i)]) = 1;

  Tape tape;
  const Var X = embed(tape, ids);
  tape.backward(X, dX);
  Tape other;
  const Var table = other.input(embed.table->value, "table");
  const Var Y = matmul(other.constant(one_hot, "one-hot"), table);
  other.backward(Y, dX);
  CHECK(bit_difference(X.value(), Y.value()) == "");
  CHECK(bit_difference(embed.table->grad, table.grad()) == "");
}

TEST_CASE("embedding: gradients agree with differences") {
  Rng rng(3);
  ParamStore store;
  const Embedding embed(store, "words", words, width, rng);
  const Matrix dX = random_matrix({4, width}, rng);
  Tape tape;
  const Var X = embed(tape, {2, 5, 2, 0});
  tape.backward(X, dX);
  CHECK(gradient_gap(tape, X, dX, tape.find("words")).ok());
}

TEST_CASE("embedding: an id outside the table is an error that says it") {
  Rng rng(4);
  ParamStore store;
  const Embedding embed(store, "words", words, width, rng);
  Tape tape;
  CHECK_THROWS_AS(embed(tape, {0, words}), ShapeError);
  CHECK_THROWS_AS(embed(tape, {-1}), ShapeError);
  CHECK_THROWS_WITH(embed(tape, {0, words}), ContainsSubstring("index 6"));
  CHECK_THROWS_WITH(embed(tape, {-1}), ContainsSubstring("index -1"));
}

TEST_CASE("embedding: an empty text has no rows") {
  Rng rng(4);
  ParamStore store;
  const Embedding embed(store, "words", words, width, rng);
  Tape tape;
  const Var X = embed(tape, {});
  CHECK(X.shape() == Shape{0, width});
  tape.backward(X, Matrix(Shape{0, width}));
  CHECK(all_zero(embed.table->grad));
}

TEST_CASE("embedding: a table starts with mean 0 and deviation 1") {
  Rng rng(5);
  ParamStore store;
  const Embedding embed(store, "words", 1000, 50, rng);
  double sum = 0, sum_of_squares = 0;
  for (int i = 0; i < 1000; ++i) {
    for (int j = 0; j < 50; ++j) {
      const double x = double(embed.table->value(i, j));
      sum += x;
      sum_of_squares += x * x;
    }
  }
  CHECK(std::fabs(sum / 50000) < 0.02);
  CHECK(std::sqrt(sum_of_squares / 50000) == Approx(1).epsilon(0.02));
}
