// LessIsMore: the worked example of the paper, numbers that were computed elsewhere, and a step through the layers.
#include "layers/attention/less_is_more.h"

#include <limits>

#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using List = std::vector<int>;

namespace {
// Three heads of width 4 and sixteen tokens; each head has its own keys and values.
struct Fixture {
  static constexpr int kHeads = 3, kTokens = 16, kWidth = 4;
  Tape tape;
  Heads cut{.heads = kHeads};
  Var q, K, V, P, A;
  Fixture() {
    const Matrix queries = sines({kHeads, kWidth}, 1, 3, 1);
    Matrix q_all(Shape{1, kHeads * kWidth}), k_all(Shape{kTokens, kHeads * kWidth}), v_all(k_all.shape());
    for (int h = 0; h < kHeads; ++h) {
      const Matrix keys = cosines({kTokens, kWidth}, 1, 2 + 0.1 * h, -1, 0.3 * h),
                   values = sines({kTokens, kWidth}, 1, 1 + 0.2 * h, 2, 0.5);
      tape.be.copy(queries.view().block(h, 0, 1, kWidth), q_all.view().block(0, h * kWidth, 1, kWidth));
      tape.be.copy(keys, k_all.view().block(0, h * kWidth, kTokens, kWidth));
      tape.be.copy(values, v_all.view().block(0, h * kWidth, kTokens, kWidth));
    }
    q = tape.constant(q_all, "q"), K = tape.constant(k_all, "K"), V = tape.constant(v_all, "V");
    P = scores_of_heads(q, K, cut);
    A = softmax(scale(P, 0.5));
  }
};
}  // namespace

TEST_CASE("LessIsMore: the example of the paper, by ranks and not by votes") {
  const int ranks[4][3] = {{2, 1, 6}, {2, 1, 4}, {2, 6, 4}, {5, 6, 4}};
  Matrix P(Shape{4, 8});
  for (int h = 0; h < 4; ++h)
    for (int j = 0; j < 8; ++j) P(h, j) = -5;
  for (int h = 0; h < 4; ++h)
    for (int rank = 0; rank < 3; ++rank) P(h, ranks[h][rank]) = Real(3 - rank);
  const TokenChoice choice = choose_tokens(P, {4, 0.25});
  CHECK(choice.picked == List{2, 5, 1});  // token 6 has three lists, token 5 one
  CHECK(choice.recent == List{7});
  CHECK(choice.sinks.empty());
  CHECK(choice.rho() == List{1, 2, 5, 7});
}

TEST_CASE("LessIsMore: choice, recall and both outputs to ten digits") {
  Fixture f;
  const TokenChoice choice = choose_tokens(f.P.value(), {8, 0.25});
  CHECK(choice.picked == List{4, 11, 12, 7, 8, 9});
  CHECK(choice.recent == List{14, 15});
  CHECK(choice.rho() == List{4, 7, 8, 9, 11, 12, 14, 15});
  CHECK(difference(attention_recall(f.A.value(), choice.rho()),
                   Matrix{{0.4856397851}, {0.5404094583}, {0.5606356882}}) == "");

  LessIsMore less({8, 0.25});
  const Var full = less(2, f.q, f.K, f.V, f.cut), sparse = less(3, f.q, f.K, f.V, f.cut);
  CHECK(difference(full.value().block(0, 0, 1, 4),
                   Matrix{{0.1506384014, -0.0458760251, -0.1124560759, 0.1394725056}}) == "");
  CHECK(difference(sparse.value().block(0, 0, 1, 4),
                   Matrix{{0.0974065929, -0.1090454408, -0.0066487625, 0.1145791638}}) == "");
}

TEST_CASE("LessIsMore: sinks come out of the recent share, or are dropped where it is too small") {
  Fixture f;
  const TokenChoice choice = choose_tokens(f.P.value(), {8, 0.5, 2});
  CHECK(choice.picked == List{4, 11, 12, 7});
  CHECK(choice.recent == List{14, 15});
  CHECK(choice.sinks == List{0, 1});
  const TokenChoice too_many = choose_tokens(f.P.value(), {8, 0.25, 3});
  CHECK(too_many.sinks.empty());
  CHECK(too_many.recent == List{14, 15});
  const TokenChoice only_sinks = choose_tokens(f.P.value(), {8, 0.5, 4});
  CHECK(only_sinks.recent.empty());
  CHECK(only_sinks.sinks == List{0, 1, 2, 3});
}

TEST_CASE("LessIsMore: a head alone chooses better for itself") {
  Fixture f;
  const Matrix want{{0.7292690048}, {0.7118799704}, {0.7325134104}};
  const Matrix together = attention_recall(f.A.value(), choose_tokens(f.P.value(), {8, 0.25}).rho());
  for (int h = 0; h < 3; ++h) {
    const Mat row = f.P.value().block(h, 0, 1, 16);
    const Matrix alone = attention_recall(f.A.value().block(h, 0, 1, 16), choose_tokens(row, {8, 0}).rho());
    CHECK(difference(alone, want.view().block(h, 0, 1, 1)) == "");
    CHECK(alone(0, 0) > together(h, 0));
  }
}

TEST_CASE("LessIsMore: exactly K tokens are chosen, each once, whatever the share and the sinks") {
  Rng rng(5);
  for (const int t : {9, 12, 40}) {
    const Matrix P = random_matrix({4, t}, rng);
    for (const int K : {1, 3, 8}) {
      for (const double r : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        for (const int sinks : {0, 1, 4}) {
          CAPTURE(t, K, r, sinks);
          const List rho = choose_tokens(P, {K, r, sinks}).rho();
          CHECK(int(rho.size()) == K);
          for (std::size_t i = 0; i < rho.size(); ++i)
            CHECK((rho[i] >= 0 && rho[i] < t && (i == 0 || rho[i] > rho[i - 1])));
        }
      }
    }
  }
  CHECK(choose_tokens(random_matrix({2, 3}, rng), {8, 0.25, 4}).rho() == List{0, 1, 2});
}

TEST_CASE("LessIsMore: a tie goes to the lower head, then to the earlier token; a NaN is chosen last") {
  CHECK(choose_tokens(Matrix{{1, 1, 1, 1}, {0, 0, 5, 0}}, {2, 0}).picked == List{0, 2});
  CHECK(choose_tokens(Matrix{{1, 7, 7, 0}, {0, 0, 0, 0}}, {3, 0}).picked == List{1, 0, 2});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(choose_tokens(Matrix{{nan, 1, nan, 2}}, {3, 0}).picked == List{3, 1, 0});
}

TEST_CASE("LessIsMore: a budget for all tokens gives full attention, bit for bit") {
  Fixture f;
  const Var full = multi_head(f.q, f.K, f.V, f.cut);
  for (const int K : {16, 17, 100}) {
    LessIsMore less({K, 0.25});
    for (int layer = 0; layer < 14; ++layer)
      CHECK(bit_difference(less(layer, f.q, f.K, f.V, f.cut).value(), full.value()) == "");
  }
}

TEST_CASE("LessIsMore: which layers choose, and a sparse layer is attention under a mask") {
  Fixture f;
  LessIsMore less({8, 0.25}, 2, 5);
  const Var other = f.tape.constant(sines({1, 12}, 1, 0, -2, 1), "another query");
  for (int layer = 0; layer < 8; ++layer) {
    CAPTURE(layer);
    CHECK(less.chooses(layer) == (layer == 2 || layer == 5));
    CHECK(less.sparse(layer) == (layer == 3 || layer == 4 || layer > 5));
    const Var q = layer < 5 ? f.q : other;
    const Var Y = less(layer, q, f.K, f.V, f.cut);
    Mask rho(1, 16, !less.sparse(layer));
    if (less.sparse(layer)) {
      for (const int j : less.chosen.rho()) rho.set(0, j, true);
    }
    Heads masked = f.cut;
    masked.mask = &rho;
    CHECK(difference(Y.value(), multi_head(q, f.K, f.V, masked).value(), kRounding) == "");
    if (less.sparse(layer)) CHECK(difference(Y.value(), multi_head(q, f.K, f.V, f.cut).value()) != "");
    if (layer == 4) CHECK(less.chosen.rho() == List{4, 7, 8, 9, 11, 12, 14, 15});
    if (layer == 5)
      CHECK(less.chosen.rho() == choose_tokens(scores_of_heads(other, f.K, f.cut).value(), {8, 0.25}).rho());
  }
  CHECK(less.chosen.rho() != List{4, 7, 8, 9, 11, 12, 14, 15});
}

TEST_CASE("LessIsMore: a choice lives for one step, and one set serves grouped heads") {
  Fixture f;
  LessIsMore less({8, 0.25});
  CHECK_THROWS_AS(less(3, f.q, f.K, f.V, f.cut), ShapeError);
  less(2, f.q, f.K, f.V, f.cut);
  CHECK_NOTHROW(less(3, f.q, f.K, f.V, f.cut));
  const Var K = f.tape.rows(f.K, 0, 15), V = f.tape.rows(f.V, 0, 15);
  CHECK_THROWS_AS(less(3, f.q, K, V, f.cut), ShapeError);
  less(0, f.q, f.K, f.V, f.cut);
  CHECK_THROWS_AS(less(3, f.q, f.K, f.V, f.cut), ShapeError);

  const Heads shared{.heads = 3, .kv_heads = 1};
  const Var k = f.tape.cols(f.K, 0, 4), v = f.tape.cols(f.V, 0, 4);
  CHECK(scores_of_heads(f.q, k, shared).shape() == Shape{3, 16});
  less(2, f.q, k, v, shared);
  CHECK(less(3, f.q, k, v, shared).shape() == Shape{1, 12});
  CHECK(int(less.chosen.rho().size()) == 8);
}

TEST_CASE("LessIsMore: what it cannot do is an error") {
  Fixture f;
  LessIsMore less({8, 0.25});
  const Mask mask(1, 16);
  CHECK_THROWS_AS(less(2, f.K, f.K, f.V, f.cut), ShapeError);
  CHECK_THROWS_AS(less(2, f.q, f.K, f.V, {.heads = 3, .mask = &mask}), ShapeError);
  CHECK_THROWS_AS(less(2, f.q, f.K, f.V, {.batch = 2, .heads = 3}), ShapeError);
  for (const TokenBudget& b : {TokenBudget{0}, TokenBudget{8, -0.1}, TokenBudget{8, 1.5}, TokenBudget{8, 0.25, -1}}) {
    CHECK_THROWS_AS(choose_tokens(f.P.value(), b), InputError);
  }
}
