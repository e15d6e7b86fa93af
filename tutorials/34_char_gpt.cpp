// tutorials/34_char_gpt.cpp: a small GPT learns to write, one character after the other, from one text file. In float, by fast kernels.
// Read first: 18_decoder_block, 20_training, 25_kv_cache.   Next: see the end of the output.   The model: layers/models/gpt.h
#include "layers/models/gpt.h"

#include <cmath>

#include "engine/cpu/fast.h"
#include "layers/models/sample.h"
#include "layers/text/characters.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
#include "tutorials/page/presets.h"
using namespace glass;

typedef std::vector<int> Ids;

// The model of the lesson in small, with weights that are large enough to be seen.
static void check_small(Page& page, GptSettings s, const Ids& text) {
  s.layers = 1, s.heads = 2, s.C = 8, s.T = 6, s.dropout = 0;
  Gpt gpt(page.params, s, page.rng);
  for (Param& p : page.params.all) {
    cpu_backend().scale(p.value, decays(p) ? 15 : 1, p.value);
    p.changed();
  }
  Windows w;
  w.at(text, {0, 40}, s.T);
  const Var loss = gpt.loss(page.tape, w.inputs, w.targets, 2);
  page.backward(loss, Matrix{{1}});
  std::size_t right = 0;
  for (const Param& p : page.params.all) right += gradient_gap(page.tape, loss, Matrix{{1}}, page.tape.find(p.name.c_str()), 40).ok();
  page.check("small: every gradient = central differences", right == page.params.all.size());
  const Mat Z = page.tape.find("Z").value();
  Ids other = w.inputs;
  other[5] = (other[5] + 1) % s.vocabulary;
  const Mat changed = gpt.logits(page.tape, other, 2).value();
  page.check("small: another last character leaves the rows before it", by_hand::same(Z.block(0, 0, 5, Z.cols), changed.block(0, 0, 5, Z.cols)));
}

int main(int argc, char** argv) try {
  if (std::string(cpu_backend().name()) == "cpu") choose_cpu(fast_cpu());  // and not where --device says otherwise
  Page page(argc, argv, "34");
  const std::string text = page.text_to_learn("/usr/share/common-licenses/GPL-3");
  const Characters characters(text);
  const Ids ids = characters.encode(text);
  const int V = characters.size();
  const Preset preset = preset_of(page.options, V);
  const GptSettings& s = preset.model;
  const Corpus corpus(ids, s.T);

  page.step("The text", "characters → numbers", "each character is a token. The vocabulary: what occurs in the text");
  page.say("   " + page.counted(long(ids.size())) + " characters, " + page.counted(V) + " different ones. For training " +
           page.counted(long(corpus.train.size())) + ", held out " + page.counted(long(corpus.held_out.size())));
  page.check("numbers → characters: the text again", characters.decode(ids) == text);

  page.step("Guess by counting", "mean of −ln p(next character)", "on the held-out text. A guess that knows nothing; how often each occurs; how often after the one before");
  const double nothing = std::log(double(V)), count = unigram_loss(corpus.train, corpus.held_out, V), pairs = bigram_loss(corpus.train, corpus.held_out, V);
  page.show_matrix("nats", Matrix{{nothing, count, pairs}}, {"loss"}, {"nothing", "each", "pairs"});
  const bool ours = page.options.file.empty();  // of another text nothing is known
  if (ours) page.check("one character back is better than none", pairs < count && count < nothing);

  page.step("The model", "X = tokens + places,  blocks,  Z = norm(X) tokensᵀ", "row t of Z scores what comes after character t, from the characters up to t");
  Rng rng(page.seed());
  ParamStore params;
  Gpt gpt(params, s, rng);
  page.say("   " + page.counted(s.layers) + " blocks, " + page.counted(s.heads) + " heads, width " + page.counted(s.C) + ", looks back " +
           page.counted(s.T) + " characters: " + page.counted(parameters(s)) + " numbers to learn");
  check_small(page, s, corpus.train);
  if (ours) page.check("fresh: all characters seem alike, loss ≈ ln V", std::fabs(loss_on(gpt, corpus.held_out) - nothing) < 0.1);

  page.step("Train, and read", page.counted(preset.training.steps) + " steps of " + page.counted(preset.training.batch) + " windows",
            "it writes on from the middle of the held-out text. Lines with ~ come from a long chain of floats: they differ from machine to machine");
  const auto middle = corpus.held_out.begin() + std::ptrdiff_t(corpus.held_out.size() * 2 / 5);
  const Ids start(middle, middle + s.T / 2);
  const Sampling how{page.options.temperature, page.options.top_k};
  Trainer trainer(gpt, corpus.train, preset.training, page.seed() + 1);
  std::vector<double> losses, held_out;
  const long steps = preset.training.steps, some = std::max(1L, steps / 20);
  page.excerpt("after", characters.decode(start), 1);
  for (const long until : {0L, steps / 10, steps}) {
    while (trainer.steps() < until) {
      losses.push_back(trainer.step());
      if (trainer.steps() % 20 == 0) page.progress(progress_line(trainer.steps(), steps, losses.back(), double(trainer.tokens()), trainer.seconds()));
      if (trainer.steps() % some == 0) held_out.push_back(loss_on(gpt, corpus.held_out));
    }
    page.progress("");
    Rng pen(page.seed() + 2);
    page.excerpt("step " + page.counted(until), characters.decode(sample(gpt, start, 180, how, pen)), 3);
  }
  page.curve("nats per character", {{"training", losses}, {"held out", held_out}}, true);
  const double end = loss_on(gpt, corpus.held_out, int(corpus.held_out.size()));  // every window
  page.roughly("held out: " + page.measured(std::round(1000 * end) / 1000) + " nats per character");
  if (ours && page.options.steps == 0) page.check("held out: better than counting pairs", end < pairs);

  page.step("Write", "p = softmax(z / temperature)", "among the k likeliest if asked. The keys and values are kept, so a new character costs one row");
  gpt.training(false);
  Writer writer(gpt);
  Rng pen(page.seed() + 3);
  writer.read(start);
  while (int(writer.text.size()) < 2 * s.T) writer.write(how, pen);
  Tape whole;
  const Mat Z = gpt.logits(whole, writer.seen()).value();
  page.check("with the cache = all that it sees once more", {{writer.logits(), Z.block(Z.rows - 1, 0, 1, V)}}, 1e-3);
  for (const Sampling& one : {Sampling{0, 0}, Sampling{0.5, 0}, Sampling{1, 0}, Sampling{1, 3}, Sampling{2, 0}}) {
    Rng again(page.seed() + 3);
    const std::string label = one.top_k ? "top " + page.counted(one.top_k) : "temp. " + page.measured(one.temperature);
    page.excerpt(label, characters.decode(sample(gpt, start, 120, one, again)), 2);
  }
  return page.done();
} catch (const std::exception& e) {
  return fail("34", e);
}
