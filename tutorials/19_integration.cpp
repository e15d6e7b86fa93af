// tutorials/19_integration.cpp: attention alone, behind a convolution or a recurrence, or beside a convolution.
// Read first: 12_multi_head.   The layers: layers/integration.h, conv.h, recurrent.h
#include "layers/integration.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static const char* const kNames[] = {"standalone", "conv", "recurrent", "augmented"};

// Who reaches whom: entry i, j is the length of the gradient in word j when only row i of the output pulls, at random.
static Matrix reach(Page& page, const Integrated& model, Mat x, bool first_part) {
  Matrix R(Shape{x.rows, x.rows});
  for (int i = 0; i < x.rows; ++i) {
    Tape tape;
    const Var X = tape.input(x, "X"), whole = model(X), Y = first_part ? tape.find(model.form == Integration::augmented ? "local" : "H") : whole;
    Rng rng(page.seed() + std::uint64_t(i));
    Matrix dY(Y.shape());
    for (int c = 0; c < dY.cols(); ++c) dY(i, c) = Real(rng.normal());
    tape.backward(Y, dY);
    for (int j = 0; j < x.rows; ++j) R(i, j) = Real(by_hand::norm(X.grad().block(j, 0, 1, x.cols)));
  }
  return R;
}

static bool zero_where(Mat R, bool later, int further_than) {  // of later words, or of words further away
  for (int i = 0; i < R.rows; ++i)
    for (int j = 0; j < R.cols; ++j)
      if ((later ? j > i : std::abs(i - j) > further_than) != (R(i, j) == 0)) return false;
  return true;
}

static bool nowhere_zero(Mat R) { return zero_where(R, false, R.rows); }

int main(int argc, char** argv) try {
  Page page(argc, argv, "19");
  Tape& tape = page.tape;
  const Var X = page.word_vectors("X");
  const Labels words = page.words();
  const int C = X.shape().cols;
  std::vector<Integrated> models;
  std::vector<ParamStore> stores(4);
  for (int f = 0; f < 4; ++f) models.emplace_back(stores[std::size_t(f)], Integration(f), C, f == 3 ? 1 : 2, page.rng);
  int shown = 0;
  while (page.options.variant != kNames[shown]) ++shown;
  const Integrated& model = models[std::size_t(shown)];
  page.settle(stores[std::size_t(shown)]);

  page.step("Words", "X");
  page.show({X}, words);
  std::vector<Var> A, steps;  // every line that is shown, in the order of the way forward
  if (model.form == Integration::augmented) {
    page.step("Two views of the same words", "local = conv(X)   global = attention(X W_in)", "each of half the width");
    steps = {model.conv[0](X).named("local"), model.attention[0](model.narrow[0](X), {.weights = &A}).named("global")};
    page.show({steps[0], steps[1]}, words);
    page.step("Side by side", "Y = [local | global]");
    steps.push_back(concat_cols(steps.data(), 2).named("Y"));
  } else {
    Var H = X;
    if (model.form == Integration::conv) {
      page.step("Neighbours first", "H_t = tanh(X_(t-1) W_0 + X_t W_1 + X_(t+1) W_2 + b)", "a convolution: three words at a time, the same weights everywhere");
      steps.push_back(H = tanh(model.conv[0](X)).named("H"));
    }
    if (model.form == Integration::recurrent) {
      page.step("One word after the other", "H_t = tanh(X_t W_x + H_(t-1) W_h + b)", "a recurrence: what it keeps of the past is one row");
      steps.push_back(H = model.recurrent[0](X));
    }
    if (!steps.empty()) page.show({H}, words);
    page.step("Then all", "Y = attention(H)", model.form == Integration::standalone ? "standalone: H is X; nothing stands before attention" : "every word sees every word, but now each row knows its surroundings");
    steps.push_back(model.attention[0](H, {.weights = &A}).named("Y"));
    A[0].named("A0"), A[1].named("A1");
    page.show({A[0], A[1]}, words, words);
  }
  const Var Y = steps.back();
  page.show({Y}, words);
  if (model.form != Integration::augmented) page.spell(Y, 0, 0);

  page.part("Back", "And back.");
  page.step("Given", "dY = dL/dY");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y});
  page.step("Through it", model.form == Integration::augmented ? "dX = from the left half + from the right half" : "dH, then dX", "the gradient goes the same ways, backward");
  for (std::size_t k = steps.size() - 1; k-- > 0;) page.show_gradient({steps[k]});
  page.show_gradient({X});
  bool all = true;
  for (const Param& p : stores[std::size_t(shown)].all) all = all && gradient_gap(tape, Y, dY, tape.find(p.name.c_str())).ok();
  page.check("the gradients of all weights and biases too", all);
  Tape again;
  page.check("the layer Integrated does the same", {{model(again.input(X.value(), "X")).value(), Y.value()}});

  page.part("More", "Who reaches whom? Let only row i of an output pull, and see which words feel it.");
  page.step("The first part alone", "|dX_j| when row i of H pulls");
  const Matrix conv = reach(page, models[1], X.value(), true), recurrent = reach(page, models[2], X.value(), true);
  page.show_matrix("conv", conv, words, words);
  page.show_matrix("recurrent", recurrent, words, words);
  page.check("a convolution of three words: neighbours only", zero_where(conv, false, 1));
  page.check("a recurrence: no later word", zero_where(recurrent, true, 0));
  page.check("augmented, left half: neighbours only", zero_where(reach(page, models[3], X.value(), true), false, 1));
  page.step("The whole", "|dX_j| when row i of Y pulls");
  page.check("standalone: every word", nowhere_zero(reach(page, models[0], X.value(), false)));
  page.check("convolution, then attention: every word", nowhere_zero(reach(page, models[1], X.value(), false)));
  page.check("recurrence, then attention: every word, also later ones", nowhere_zero(reach(page, models[2], X.value(), false)));
  page.check("augmented: every word, through the right half", nowhere_zero(reach(page, models[3], X.value(), false)));
  return page.done();
} catch (const std::exception& e) {
  return fail("19", e);
}
