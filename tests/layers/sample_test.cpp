#include "layers/models/sample.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

typedef std::vector<int> Ids;

TEST_CASE("draw: temperature 0 takes the likeliest, of equals the first") {
  Rng rng(1);
  CHECK(draw_token(Matrix{{1, 3, 3, 2}}, {.temperature = 0}, rng) == 1);
  CHECK(draw_token(Matrix{{-1e30, -2e30}}, {.temperature = 0}, rng) == 0);
}

static std::vector<double> shares(Mat logits, const Sampling& how) {
  Rng rng(2);
  std::vector<double> n(std::size_t(logits.cols), 0);
  for (int i = 0; i < 20000; ++i) n[std::size_t(draw_token(logits, how, rng))] += 1 / 20000.0;
  return n;
}

TEST_CASE("draw: as often as the softmax says") {
  const Matrix z{{0, 1, 2, -1}};
  for (const double t : {0.5, 1.0, 2.0}) {
    double sum = 0;
    for (int j = 0; j < 4; ++j) sum += std::exp(double(z(0, j)) / t);
    const std::vector<double> n = shares(z, {.temperature = t});
    for (int j = 0; j < 4; ++j) CHECK(n[std::size_t(j)] == Approx(std::exp(double(z(0, j)) / t) / sum).margin(0.012));
  }
}

TEST_CASE("draw: among the k likeliest only; ties go to the first") {
  const std::vector<double> two = shares(Matrix{{0, 1, 1, 1}}, {.top_k = 2});
  CHECK(two[0] == 0);
  CHECK(two[3] == 0);
  CHECK(two[1] == Approx(0.5).margin(0.012));
  CHECK(shares(Matrix{{0, 1}}, {.top_k = 1})[1] == Approx(1));
  CHECK(shares(Matrix{{0, 0}}, {.top_k = 99})[1] == Approx(0.5).margin(0.012));
}

TEST_CASE("draw: extremes") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Rng rng(3);
  CHECK(shares(Matrix{{-inf, 0, -inf}}, {})[1] == Approx(1));
  CHECK(shares(Matrix{{1e30, -1e30}}, {.temperature = 1e-300})[0] == Approx(1));
  CHECK_THROWS_WITH(draw_token(Matrix{{0, nan}}, {}, rng), ContainsSubstring("the logit of token 1 is nan"));
  CHECK_THROWS_WITH(draw_token(Matrix{{inf, 0}}, {}, rng), ContainsSubstring("token 0 is inf"));
  CHECK_THROWS_WITH(draw_token(Matrix{{-inf, -inf}}, {}, rng), ContainsSubstring("no token is possible"));
  CHECK_THROWS_WITH(draw_token(Matrix{{0, 0}}, {.temperature = -0.5}, rng), ContainsSubstring("not -0.5"));
  CHECK_THROWS_AS(draw_token(Matrix{{0, 0}}, {.temperature = nan}, rng), InputError);
  CHECK_THROWS_WITH(draw_token(Matrix{{0, 0}}, {.top_k = -1}, rng), ContainsSubstring("not -1"));
}

static void with_model(Places places, void (*what)(Gpt&)) {
  ParamStore store;
  Rng rng(4);
  Gpt gpt(store, {.layers = 2, .heads = 2, .C = 8, .T = 6, .vocabulary = 7, .places = places}, rng);
  for (Param& p : store.all) p.set(random_matrix(p.value.shape(), rng));
  what(gpt);
}

static void logits_are_those_of_a_full_pass(Gpt& gpt) {
  Writer writer(gpt);
  Rng rng(5);
  writer.read({3, 1, 4});
  for (int i = 0; i < 20; ++i) {  // far past T = 6
    Tape tape;
    const Ids seen = writer.seen();
    CAPTURE(i, seen.size());
    CHECK(seen.size() >= 3);
    CHECK(seen.size() <= 6);
    CHECK(seen == Ids(writer.text.end() - std::ptrdiff_t(seen.size()), writer.text.end()));
    const Mat Z = gpt.logits(tape, seen).value();
    CHECK(difference(writer.logits(), Z.block(Z.rows - 1, 0, 1, Z.cols), kRounding) == "");
    writer.write({}, rng);
  }
  CHECK(writer.text.size() == 23);
}

TEST_CASE("writer: with the cache as with a full pass over what it sees, also when the window slides") {
  with_model(Places::learned, logits_are_those_of_a_full_pass);
  with_model(Places::rotary, logits_are_those_of_a_full_pass);
}

static void long_prompts_are_read_in_pieces(Gpt& gpt) {
  Writer writer(gpt), one(gpt);
  const Ids prompt = {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6};
  writer.read(prompt);
  for (const int id : prompt) one.read({id});
  CHECK(writer.text == prompt);
  CHECK(writer.seen().size() >= 3);
  CHECK(writer.seen().size() == one.seen().size());
  CHECK(difference(writer.logits(), one.logits(), kRounding) == "");
}

static void same_seed_same_text(Gpt& gpt) {
  Rng a(6), b(6), c(7);
  const Ids first = sample(gpt, {1, 2}, 30, {}, a);
  CHECK(first.size() == 30);
  CHECK(sample(gpt, {1, 2}, 30, {}, b) == first);
  CHECK(sample(gpt, {1, 2}, 30, {}, c) != first);
  CHECK(sample(gpt, {1, 2}, 0, {}, c).empty());
  CHECK(gpt.training());
  Writer writer(gpt);
  CHECK_THROWS_WITH(writer.write({}, a), ContainsSubstring("empty"));
}

TEST_CASE("writer: a prompt longer than the window") { with_model(Places::learned, long_prompts_are_read_in_pieces); }
TEST_CASE("sample: the seed decides") { with_model(Places::learned, same_seed_same_text); }

TEST_CASE("writer: a model that sees one token only") {
  ParamStore store;
  Rng rng(8);
  Gpt gpt(store, {.layers = 1, .heads = 1, .C = 4, .T = 1, .vocabulary = 3}, rng);
  CHECK(sample(gpt, {0}, 5, {}, rng).size() == 5);
}
