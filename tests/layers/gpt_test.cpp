// The GPT against PyTorch (tests/reference/gpt.py), and what must hold for any weights.
#include "layers/models/gpt.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "layers/optim/adamw.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

typedef std::vector<int> Ids;
static const Ids kIds = {3, 1, 4, 1, 5, 0, 6, 2, 5, 3}, kNext = {1, 4, 1, 5, 2, 6, 2, 5, 3, 5};  // two sequences of five

static GptSettings small() { return {.layers = 2, .heads = 2, .C = 4, .T = 5, .vocabulary = 7}; }

static GptSettings bare() {
  GptSettings s = small();
  s.bias = Bias::no;
  s.tied = false;
  s.activation = Activation::gelu;
  return s;
}

static GptSettings turning() { return {.layers = 1, .heads = 2, .C = 8, .T = 5, .vocabulary = 7, .places = Places::rotary}; }

// Weights that are large enough for every part to matter.
static void enlarge(ParamStore& store, std::uint64_t seed) {
  Rng rng(seed);
  for (Param& p : store.all) p.set(random_matrix(p.value.shape(), rng));
}

static void check_against_torch(const std::string& set, const GptSettings& s) {
  CAPTURE(set);
  const ReferenceFile torch("gpt.txt");
  ParamStore store;
  Rng rng(1);
  Gpt gpt(store, s, rng);
  for (Param& p : store.all) p.set(torch[set + p.name]);
  AdamW adamw(store, 0.01, 0.1);
  adamw.beta2 = 0.99;
  Tape tape;
  const Tolerance printed = kDouble ? kRounding : Tolerance{1e-4, 1e-5};
  for (int step = 0; step < 3; ++step) {
    tape.rewind();
    const Var loss = gpt.loss(tape, kIds, kNext, 2);
    store.zero_grad();
    tape.backward(loss);
    if (step == 0) {
      CHECK(difference(tape.find("Z").value(), torch[set + "logits"], printed) == "");
      CHECK(difference(loss.value(), torch[set + "loss"], printed) == "");
      for (Param& p : store.all) {
        CAPTURE(p.name);
        CHECK(difference(p.grad, torch[set + "d" + p.name], printed) == "");
      }
    }
    adamw.step();
  }
  for (Param& p : store.all) {
    CAPTURE(p.name);
    // The first steps of AdamW are about rate · sign(g): where g is almost 0, float and double may differ. A bias of the keys shifts
    // all scores of a query alike: its gradient is 0 and a bit of rounding.
    if (!kDouble && p.name.rfind("b_qkv", 0) == 0) continue;
    CHECK(fingerprint(p.value) == Approx(double(torch[set + "after." + p.name](0, 0))).epsilon(0).margin(kDouble ? 1e-9 : 2e-3));
  }
}

TEST_CASE("gpt: logits, loss, every gradient and three steps of AdamW are PyTorch's") {
  check_against_torch("gpt2.", small());
  check_against_torch("bare.", bare());
  check_against_torch("rotary.", turning());
}

TEST_CASE("gpt: every gradient is that of central differences") {
  for (const GptSettings& s : {small(), bare(), turning()}) {
    CAPTURE(int(s.places), int(s.bias));
    ParamStore store;
    Rng rng(2);
    Gpt gpt(store, s, rng);
    enlarge(store, 3);
    Tape tape;
    const Var Z = gpt.logits(tape, kIds, 2);
    Rng seeds(4);
    const Matrix dZ = random_matrix(Z.shape(), seeds);
    tape.backward(Z, dZ);
    for (Param& p : store.all) {
      CAPTURE(p.name);
      const GradGap gap = gradient_gap(tape, Z, dZ, tape.find(p.name.c_str()), 30);
      CHECK(gap.worst < gradient_tolerance() * (kDouble ? 10 : 4));
    }
  }
}

TEST_CASE("gpt: a later token does not move one bit of the earlier logits") {
  for (const GptSettings& s : {small(), turning()}) {
    ParamStore store;
    Rng rng(5);
    Gpt gpt(store, s, rng);
    enlarge(store, 6);
    Tape tape;
    const Matrix before(gpt.logits(tape, {3, 1, 4, 1, 5}).value());
    const Matrix after(gpt.logits(tape, {3, 1, 4, 2, 0}).value());
    CHECK(bit_difference(before.view().block(0, 0, 3, 7), after.view().block(0, 0, 3, 7)) == "");
    CHECK(difference(before.view().block(3, 0, 1, 7), after.view().block(3, 0, 1, 7)) != "");
    // and a sequence does not see its neighbour in the batch
    const Matrix both(gpt.logits(tape, {0, 0, 0, 0, 0, 3, 1, 4, 1, 5}, 2).value());
    CHECK(difference(both.view().block(5, 0, 5, 7), before, kRounding) == "");
  }
}

TEST_CASE("gpt: learned places are told to the tokens, rotary places only to the scores") {
  for (const Places places : {Places::rotary, Places::learned}) {
    GptSettings s = turning();
    s.places = places;
    ParamStore store;
    Rng rng(7);
    Gpt gpt(store, s, rng);
    enlarge(store, 8);
    Tape tape;
    const Mat Z = gpt.logits(tape, {3, 3, 3, 3}).value();  // one token again and again: every mix of values is the same value
    const bool same = difference(Z.block(0, 0, 1, 7), Z.block(3, 0, 1, 7), kRounding).empty();
    CHECK(same == (places == Places::rotary));
  }
}

TEST_CASE("gpt: the head is the table of tokens, and its gradient has both parts") {
  ParamStore tied_store, untied_store;
  Rng rng(9);
  GptSettings s = small();
  Gpt tied(tied_store, s, rng);
  enlarge(tied_store, 10);
  s.tied = false;
  Gpt untied(untied_store, s, rng);
  CHECK(tied_store.find("W_head") == nullptr);
  for (Param& p : tied_store.all) untied_store.find(p.name)->set(p.value);
  const Mat table = tied_store.find("tokens")->value;
  Matrix head(Shape{4, 7});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 7; ++j) head(i, j) = table(j, i);
  untied_store.find("W_head")->set(head);
  Tape tape;
  const Var a = tied.loss(tape, kIds, kNext, 2), b = untied.loss(tape, kIds, kNext, 2);
  tape.backward(a);
  tape.clear_gradients();
  tape.backward(b);
  CHECK(difference(a.value(), b.value(), kRounding) == "");
  Matrix sum(untied_store.find("tokens")->grad);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 7; ++j) sum(j, i) += untied_store.find("W_head")->grad(i, j);
  CHECK(difference(tied_store.find("tokens")->grad, sum, kRounding) == "");
}

TEST_CASE("gpt: at the start every token seems alike: the loss is about ln V") {
  ParamStore store;
  Rng rng(11);
  Gpt gpt(store, {.layers = 4, .heads = 4, .C = 32, .T = 16, .vocabulary = 65}, rng);
  Ids ids, next;
  for (int i = 0; i < 64; ++i) ids.push_back(int(rng.uniform() * 65)), next.push_back(int(rng.uniform() * 65));
  Tape tape;
  CHECK(gpt.loss(tape, ids, next, 4).value()(0, 0) == Approx(std::log(65.0)).margin(0.05));
}

static double deviation(const Matrix& m) {
  double sum = 0;
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) sum += double(m(i, j)) * double(m(i, j));
  return std::sqrt(sum / (double(m.rows()) * m.cols()));
}

TEST_CASE("gpt: matrices start with deviation 0.02, those that are added up with 0.02 / sqrt(2 layers)") {
  ParamStore store;
  Rng rng(12);
  Gpt gpt(store, {.layers = 2, .heads = 4, .C = 64, .T = 64, .vocabulary = 65, .tied = false}, rng);
  for (const char* name : {"tokens", "places", "W_qkv.0", "W_1.1", "W_head"}) CHECK(deviation(store.find(name)->value) == Approx(0.02).epsilon(0.05));
  for (const char* name : {"W_o.0", "W_2.1"}) CHECK(deviation(store.find(name)->value) == Approx(0.01).epsilon(0.05));
  CHECK(all_zero(store.find("b_qkv.0")->value));
  CHECK(decays(*store.find("W_qkv.0")));
  CHECK(decays(*store.find("tokens")));
  CHECK_FALSE(decays(*store.find("b_1.0")));
  CHECK_FALSE(decays(*store.find("gain")));
}

TEST_CASE("gpt: the number of parameters") {
  GptSettings gpt2{.layers = 12, .heads = 12, .C = 768, .T = 1024, .vocabulary = 50257};
  CHECK(parameters(gpt2) == 124439808);  // the published size of the small GPT-2
  for (const GptSettings& s : {small(), bare(), turning()}) {
    ParamStore store;
    Rng rng(13);
    Gpt gpt(store, s, rng);
    long n = 0;
    for (const Param& p : store.all) n += long(count(p.value.shape()));
    CHECK(parameters(s) == n);
  }
}

TEST_CASE("gpt: dropout acts in training only, and a replay keeps its choices") {
  GptSettings s = small();
  s.dropout = 0.5;
  ParamStore store;
  Rng rng(14);
  Gpt gpt(store, s, rng);
  enlarge(store, 15);
  Tape tape;
  const Var Z = gpt.logits(tape, kIds, 2);
  const Matrix first(Z.value());
  CHECK(difference(gpt.logits(tape, kIds, 2).value(), first) != "");
  tape.replay();
  CHECK(bit_difference(Z.value(), first) == "");
  gpt.training(false);
  const Matrix calm(gpt.logits(tape, kIds, 2).value());
  CHECK(bit_difference(gpt.logits(tape, kIds, 2).value(), calm) == "");
}

TEST_CASE("gpt: settings and texts that do not fit are named") {
  Rng rng(16);
  ParamStore store;
  CHECK_THROWS_WITH((Gpt(store, {.heads = 3, .C = 64, .vocabulary = 5}, rng)), ContainsSubstring("64 cannot be cut into 3 heads"));
  CHECK_THROWS_WITH((Gpt(store, {.C = 64}, rng)), ContainsSubstring("vocabulary (0)"));
  CHECK_THROWS_WITH((Gpt(store, {.heads = 4, .C = 12, .vocabulary = 5, .places = Places::rotary}, rng)), ContainsSubstring("heads of width 3"));
  CHECK_THROWS_WITH((Gpt(store, {.vocabulary = 5, .activation = Activation::relu}, rng)), ContainsSubstring("gelu"));
  CHECK(store.all.empty());
  Gpt gpt(store, small(), rng);
  Tape tape;
  CHECK_THROWS_WITH(gpt.logits(tape, {1, 2, 3}, 2), ContainsSubstring("3 tokens cannot be cut into 2 sequences"));
  CHECK_THROWS_WITH(gpt.logits(tape, {}), ContainsSubstring("0 tokens"));
  CHECK_THROWS_WITH(gpt.logits(tape, Ids(6, 1)), ContainsSubstring("at most T = 5"));
  CHECK_THROWS_WITH(gpt.logits(tape, {7}), ContainsSubstring("index 7"));
  std::vector<KvCache> none;
  CHECK_THROWS_WITH(gpt.decode(tape, {1}, none), ContainsSubstring("0 caches for 2 layers"));
}
