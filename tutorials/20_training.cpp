// tutorials/20_training.cpp: from gradients to learning. Three optimisers race on a task that needs attention.
// Read first: 09_self_attention, 06_cross_entropy.   The optimisers: layers/optim/
#include "layers/optim/adamw.h"
#include "layers/optim/clip.h"
#include "layers/optim/schedule.h"
#include "layers/optim/sgd.h"
#include "tutorials/page/page.h"
#include "tutorials/page/recall.h"
using namespace glass;
using namespace glass::recall;

static constexpr int kBatch = 16, kSteps = 400;

enum class Way { sgd, momentum, adamw };

// Trains a fresh model; returns the loss of every step.
static std::vector<double> train(Page& page, Model& model, Way way, const char* name) {
  const WarmupCosine schedule{way == Way::sgd ? 0.5 : way == Way::momentum ? 0.1 : 0.02, 20, kSteps};
  Sgd sgd(model.params, 0, way == Way::momentum ? 0.9 : 0);
  AdamW adamw(model.params, 0);
  Rng rng(page.seed() + 1);
  Tape tape;
  std::vector<double> losses;
  for (int t = 1; t <= kSteps; ++t) {
    std::vector<Question> batch;
    for (int i = 0; i < kBatch; ++i) batch.push_back(ask(rng));
    tape.rewind();
    const Var loss = loss_of(tape, model, batch);
    model.params.zero_grad();
    tape.backward(loss);
    clip_by_norm(model.params, 1);
    sgd.rate = adamw.rate = schedule(t);
    way == Way::adamw ? adamw.step() : sgd.step();
    losses.push_back(double(loss.value()(0, 0)));
    page.progress(name, t, kSteps);
  }
  page.progress(name, kSteps, kSteps);
  return losses;
}

// One weight, three updates with the gradients 0.5, -0.25, 0.125: what each optimiser makes of them.
static Matrix three_updates(Way way) {
  ParamStore store;
  Rng rng(1);
  Param& w = store.make("w", {1, 1}, Init::ones, rng);
  Sgd sgd(store, 0.1, way == Way::momentum ? 0.9 : 0);
  AdamW adamw(store, 0.1);
  Matrix path(Shape{1, 4});
  const double g[] = {0.5, -0.25, 0.125};
  path(0, 0) = 1;
  for (int t = 0; t < 3; ++t) {
    w.grad(0, 0) = Real(g[t]);
    way == Way::adamw ? adamw.step() : sgd.step();
    path(0, t + 1) = w.value(0, 0);
  }
  return path;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "20");
  Rng rng(page.seed());
  const Labels ways = {"sgd", "momentum", "adamw"};
  page.step("Three ways to step", "against g, its running sum, or its mean / its size", "one weight, gradients 0.5 -0.25 0.125, rate 0.1");
  Matrix paths(Shape{3, 4});
  for (int i = 0; i < 3; ++i) cpu_backend().copy(three_updates(Way(i)), paths.view().block(i, 0, 1, 4));
  page.show_matrix("w", paths, ways, {"start", "1", "2", "3"});
  page.check("momentum remembers: 0.95, 0.93, 0.8995", {{paths.view().block(1, 1, 1, 3), Matrix{{0.95, 0.93, 0.8995}}}});
  page.check("sgd forgets: 0.95, 0.975, 0.9625", {{paths.view().block(0, 1, 1, 3), Matrix{{0.95, 0.975, 0.9625}}}});
  page.check("adamw: the first step is as long as the rate", paths(2, 1), 0.9, 1e-6);

  page.step("The task", "c→2  a→5  f→0  b→5    a→?", "four pairs and a question, new ones each time: the answer must be looked up");
  Model fresh(rng);
  Tape tape;
  std::vector<Question> some;
  for (int i = 0; i < 3; ++i) some.push_back(ask(rng));
  const Var loss = loss_of(tape, fresh, some);
  tape.backward(loss);
  int right = 0;
  long numbers = 0;
  for (const Param& p : fresh.params.all) {
    right += gradient_gap(tape, loss, Matrix{{1}}, tape.find(p.name.c_str())).ok();
    numbers += long(count(p.value.shape()));
  }
  page.say("   The model: one head of self-attention and a linear layer, " + page.measured(double(numbers)) + " numbers to learn.");
  page.check("before training, every gradient = central differences", right == int(fresh.params.all.size()));

  page.step("Train", "400 steps of 16 questions", "each at a rate of its own, with warm-up and a half cosine: the order says little");
  std::vector<Page::Series> curves;
  std::vector<double> accuracy;
  for (int i = 0; i < 3; ++i) {
    Rng start(page.seed());  // the same start for all
    Model model(start);
    curves.push_back({ways[std::size_t(i)].c_str(), train(page, model, Way(i), ways[std::size_t(i)].c_str())});
    accuracy.push_back(right_of(model, 1000, Rng(page.seed() + 2)));
  }
  page.curve("loss", curves);

  page.step("New questions", "1000 drawn afresh", "a guess is right once in 6; 46 % without comparing keys");
  Rng start(page.seed());
  page.say("   right before training: " + page.measured(100 * right_of(Model(start), 1000, Rng(page.seed() + 2))) + " %");
  for (int i = 0; i < 3; ++i) page.say("   right after " + ways[std::size_t(i)] + ": " + page.measured(100 * accuracy[std::size_t(i)]) + " %");
  page.check("adamw answers at least 98 % of them", accuracy[2] >= 0.98);
  return page.done();
} catch (const std::exception& e) {
  return fail("20", e);
}
