// T5's relative bias: the published buckets, ten digits, PyTorch, and the grid.
#include "layers/positional/t5_bias.h"

#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/relative_fixture.h"
#include "tests/layers/variant_grid.h"
#include "tests/reference_file.h"

using namespace glass;

TEST_CASE("t5: buckets both ways and in a decoder") {
  const int ahead[] = {-200, -128, -127, -64, -33, -32, -17, -16, -15, -12, -11, -9,  -8, -7,
                       -1,   0,    1,    7,   8,   11,  12,  16,  32,  64,  127, 128, 200};
  const int both[] = {15, 15, 15, 14, 12, 12, 10, 10, 9,  9,  8,  8,  8, 7,
                      1,  0,  17, 23, 24, 24, 25, 26, 28, 30, 31, 31, 31};
  const int back[] = {31, 31, 31, 26, 21, 21, 16, 16, 15, 12, 11, 9, 8, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (int t = 0; t < 27; ++t) {
    CAPTURE(ahead[t]);
    CHECK(t5_bucket(ahead[t], true) == both[t]);
    CHECK(t5_bucket(ahead[t], false) == back[t]);
  }
}

TEST_CASE("t5: the first distance of each range") {
  const int both[] = {8, 12, 16, 23, 32, 46, 64, 91};                                    // buckets 8 to 15
  const int back[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};  // buckets 16 to 31
  for (int n = 0; n < 1000; ++n) {
    int want_both = n < 8 ? n : 7, want_back = n < 16 ? n : 15;
    for (const int first : both) want_both += n >= first;
    for (const int first : back) want_back += n >= first;
    CAPTURE(n);
    CHECK(t5_bucket(-n, true) == want_both);
    CHECK(t5_bucket(n, true) == want_both + (n > 0 ? 16 : 0));
    CHECK(t5_bucket(-n, false) == want_back);
    CHECK(t5_bucket(n, false) == 0);
  }
  CHECK(t5_bucket(-2000000000, true) == 15);
}

// 0.3 sin(b + 0.5) for bucket b, the same for each head
static Matrix waves(int heads) { return sines({32, heads}, 0.3, 1, 0, 0.5); }

TEST_CASE("t5: values and the gradient of the table to ten digits") {
  Rng rng(1);
  ParamStore store;
  T5Bias t5(store, "B", 1, true, rng);
  t5.table->set(waves(1));
  FiveTokens run(t5);
  CHECK(difference(run.Y.value().block(0, 0, 1, 3), Matrix{{-0.2256856210, 0.0093040344, 0.2179419321}}) == "");
  Matrix want(Shape{32, 1});
  want(0, 0) = Real(0.5046805233), want(1, 0) = Real(0.7842504985), want(2, 0) = Real(-0.1187265594),
          want(3, 0) = Real(-0.6304126377);
  want(4, 0) = Real(0.0162302957), want(17, 0) = Real(-0.2921157156), want(18, 0) = Real(-0.3057658239),
          want(19, 0) = Real(0.0982147416);
  want(20, 0) = Real(-0.0563553225);
  CHECK(difference(t5.table->grad, want) == "");
}

TEST_CASE("t5: a decoder's bias in its second head, as in PyTorch; the table's gradient too") {
  Rng rng(2);
  ParamStore store;
  T5Bias t5(store, "B", 2, false, rng, 8, 8);
  t5.table->set(sines({8, 2}, 0.5, 1, 2, 0.3));
  check_against_torch(t5, "t5");
  CHECK(difference(t5.table->grad, ReferenceFile("positions.txt")["t5.dB"]) == "");
}

TEST_CASE("t5: the table's gradient agrees with differences") {
  Rng rng(3);
  ParamStore store;
  T5Bias both(store, "B", 1, true, rng), back(store, "B back", 1, false, rng);
  check_parameter(both, *both.table);
  check_parameter(back, *back.table);
}

TEST_CASE("t5: two layers that share a table add their gradients") {
  Rng rng(4);
  ParamStore store;
  T5Bias t5(store, "B", 1, true, rng);
  FiveTokens once(t5);
  const Matrix first(t5.table->grad);
  FiveTokens twice(t5);
  Matrix want(first);
  for (int b = 0; b < 32; ++b) want(b, 0) *= 2;
  CHECK(difference(t5.table->grad, want, kRounding) == "");
}

TEST_CASE("t5: keys that share the last bucket may move further away without a change") {
  Rng rng(5);
  ParamStore store;
  T5Bias t5(store, "B", 1, false, rng, 4, 3);  // 0, 1, 2, then 3 and beyond
  CHECK(t5_bucket(-3, false, 4, 3) == 3);
  const Matrix q = random_matrix({1, 4}, rng), k = random_matrix({6, 4}, rng), v = random_matrix({6, 4}, rng);
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  const Mask near = Mask::visible({true, false, true, true, true, true}, 1);  // key 0 is 5 away
  const Matrix far(t5(Q, K, V, {.allowed = &near}).value());
  Matrix k_moved(k), v_moved(v);
  for (int c = 0; c < 4; ++c) k_moved(1, c) = k(0, c), v_moved(1, c) = v(0, c);
  const Mask moved = Mask::visible({false, true, true, true, true, true}, 1);  // the same key, 4 away
  const Var nearer = t5(Q, tape.input(k_moved, "K"), tape.input(v_moved, "V"), {.allowed = &moved});
  CHECK(difference(nearer.value(), far, kRounding) == "");
}

TEST_CASE("t5: tables that do not fit are refused") {
  Rng rng(6);
  ParamStore store;
  CHECK_THROWS_AS(T5Bias(store, "B", 1, true, rng, 6), InputError);
  CHECK_THROWS_AS(T5Bias(store, "B", 1, false, rng, 5), InputError);
  CHECK(store.all.empty());
  CHECK_THROWS_AS(t5_bucket(-100, true, 32, 8), InputError);
  T5Bias t5(store, "B", 2, true, rng);
  Tape tape;
  const Var Q = tape.input(random_matrix({3, 4}, rng), "Q");
  CHECK_THROWS_AS(t5(Q, Q, Q, {.head = 2, .heads = 4}), ShapeError);
}

TEST_CASE("t5: over masks, batches, heads and lengths") {
  Rng rng(7);
  ParamStore store;
  T5Bias both(store, "both", 4, true, rng), back(store, "back", 4, false, rng);
  check_variant(both);
  check_variant(back);
  check_hidden_nan(both);
}
