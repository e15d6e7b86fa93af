// Inputs, headings, checks and the verdict. The figures are in figures.cpp, --spell in spell.cpp.
#include "tutorials/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/hooks.h"
#include "engine/io/csv.h"
#include "engine/io/nearest.h"
#include "engine/io/save.h"
#include "engine/io/text.h"
#include "tutorials/page/terminal.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const char* const kSentence = "the cat sat on the mat";

Page::Page(int argc, char** argv, const char* lesson) : rng(0), options(parse_options(argc, argv, lesson)) {
  rng = Rng(options.seed);
  if (on_device() && tape.be.name() != options.device) {
    throw InputError("--device " + options.device + ": " + cuda_problem());
  }
  tape.watch_nonfinite = tape.zero_first = true;
  std::string text = options.text.empty() ? kSentence : options.text;
  if (!options.file.empty() && lesson_info(lesson).words) {
    text = read_text(options.file);
  } else {
    require_utf8(text, "--text");
  }
  words_ = words_of(text);
  if (words_.empty()) throw InputError((options.file.empty() ? "--text" : options.file) + ": there is no word in it");
  for (std::string& w : words_) w = printable(w);
  if (int(words_.size()) > options.tokens) {
    if (!options.text.empty() || !options.file.empty() || options.tokens != lesson_info(lesson).tokens) {
      cut_note_ = fmt::format("The first {} of {} words (--tokens N for more).\n", options.tokens, words_.size());
    }
    words_.resize(std::size_t(options.tokens));
  }
  for (const std::string& path : {options.svg, options.dot, options.html})
    if (!path.empty() && path != "-") require_writable(path);  // said before the work, not after it
  for (const auto& [name, file] : options.set) {
    given_.emplace(name, read_csv(file));
    used_[name] = false;
  }
}

// ---------------------------------------------------------------------------------- inputs

static double one_decimal(double x) { return std::round(x * 10) / 10; }

static std::uint64_t hash(const std::string& word) {  // FNV-1a, 64 bits
  std::uint64_t h = 14695981039346656037u;
  for (const char c : word) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

Matrix Page::word_vector(const std::string& word, int width) const {
  Rng mine(options.seed, hash(word) >> 1);  // a sequence of its own
  Matrix v(Shape{1, width});
  for (int c = 0; c < width; ++c) v(0, c) = Real(one_decimal(mine.normal()));
  return v;
}

Var Page::word_vectors(const char* name, Where where) {
  random_ = true;
  Matrix X(Shape{int(words_.size()), options.dim});
  for (int r = 0; r < X.rows(); ++r) {
    const Matrix v = word_vector(words_[std::size_t(r)], options.dim);
    for (int c = 0; c < X.cols(); ++c) X(r, c) = v(0, c);
  }
  X = matrix(name, X);
  if (X.rows() != int(words_.size())) {  // numbers from a blackboard need no sentence
    if (!options.text.empty() || !options.file.empty()) {
      throw InputError(fmt::format("--set {}: {} has {} rows, but the text has {} words", name, options.set.at(name), X.rows(), words_.size()));
    }
    words_.clear();
    for (int r = 0; r < X.rows(); ++r) words_.push_back("x" + std::to_string(r));
  }
  const Var x = tape.input(X, name, where);
  axes_[x.id] = {words_, {}};
  return x;
}

Matrix Page::matrix(const char* name, const Matrix& fallback) {
  const auto found = given_.find(name);
  if (found == given_.end()) {
    used_.emplace(name, true);
    return fallback;
  }
  used_[name] = true;
  return found->second;
}

Shape Page::shape_of(const char* name, Shape fallback) {
  const auto found = given_.find(name);
  return found == given_.end() ? fallback : found->second.shape();
}

void Page::settle(ParamStore& store) {
  random_ = true;
  for (Param& p : store.all) {
    Matrix rounded(p.value);
    for (int r = 0; r < rounded.rows(); ++r)
      for (int c = 0; c < rounded.cols(); ++c) rounded(r, c) = Real(one_decimal(double(rounded(r, c))));
    const Matrix value = matrix(p.name.c_str(), rounded);
    if (value.shape() != p.value.shape()) {
      throw InputError(fmt::format("--set {}: {} is {}, but here {} is {} (rows x columns)", p.name, options.set.at(p.name),
                                   to_text(value.rows(), value.cols()), p.name, to_text(p.value.rows(), p.value.cols())));
    }
    p.set(value);
  }
}

// ---------------------------------------------------------------------------------- telling

// --set of a name that the lesson does not have. A gradient (dY) is asked for late, so it can only be missed at the end.
void Page::refuse_unknown(bool at_end) const {
  std::string known;
  for (const auto& [name, used] : used_) {
    if (used) known += (known.empty() ? "" : ", ") + name;
  }
  for (const auto& [name, used] : used_) {
    if (used || (name[0] == 'd' && !at_end)) continue;
    throw InputError("--set " + name + ": this lesson has no matrix of that name" + (known.empty() ? "" : "; it has " + known));
  }
}

static void refuse_names(const Labels& asked, const Labels& known) {  // of --only
  for (const std::string& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string guess = nearest(name, known);
    throw InputError("--only " + name + ": this lesson shows no matrix of that name" + (guess.empty() ? "" : ", did you mean " + guess + "?"));
  }
}

void Page::begin() {
  if (begun_) return;
  begun_ = true;
  refuse_unknown(false);
  const LessonInfo& info = lesson_info(options.lesson.c_str());
  const std::string seed = random_ ? fmt::format("   (--seed {})", options.seed) : "";
  const std::string device = on_device() ? "On " + options.device + ", in float; gradients are compared with the CPU's in double.\n" : "";
  put(spelled(fmt::format("{}  {}{}\n{}\n{}{}", info.number, info.title, seed, info.claim, device, cut_note_)));
}

void Page::say(const std::string& text) {
  begin();
  told().says.push_back(text);
  put(folded(spelled(text), options.width) + "\n");
}

void Page::step(const char* name, const std::string& formula, const std::string& note) {
  begin();
  flush();  // what the last step showed is on the screen before a debugger stops here
  if (steps_) glass_step(section_.c_str(), steps_);
  section_ = name;
  ++steps_;
  const std::string title = fmt::format("{}{}. {}:", part_, ++headings_, name);
  told_.push_back({part_.substr(0, part_.size() - !part_.empty()), name, formula, note, headings_, {}, {}, {}, {}});
  put(spelled(fmt::format("\n{}  {}\n", painted(title, "1"), painted(formula, "36"))));
  if (!opening_.empty()) told().says.push_back(opening_);
  opening_.clear();
  if (!note.empty()) put(folded(spelled("   " + note), options.width) + "\n");
}

void Page::part(const std::string& name, const std::string& text) {
  begin();
  put(folded(spelled("\n" + text), options.width) + "\n");
  opening_ = text;
  part_ = name + " ";
  headings_ = 0;
}

// A matrix that is not on the tape; the lesson checks it next.
void Page::show_matrix(const char* name, Mat m, const Labels& rows, const Labels& cols) {
  begin();
  csv_wanted(name, m);
  told().matrices.push_back({name, Matrix(m), rows, cols});
  if (!shown(name)) return;
  Block b;
  b.title = fmt::format(" {}  {}", name, to_text(m.rows, m.cols));
  b.values = m;
  b.rows = rows;
  b.cols = cols;
  put(figure({b}, style()));
}

void Page::show_tape(const Tape& any) {
  begin();
  put_told(spelled(tape_table(any, style())));
}

// code: "1" bold, "36" cyan, "32" green, "31" red
std::string Page::painted(const std::string& text, const char* code) const {
  return options.color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

// Characters that the terminal can draw.
std::string Page::spelled(const std::string& text) const { return options.ascii ? to_ascii(text) : text; }

Style Page::style() const { return {options.digits, options.width, options.color, options.ascii}; }

std::string Page::measured(double x) const { return to_text(x); }

std::string Page::counted(long n) const { return std::to_string(n); }

void Page::put_told(const std::string& text) {
  told().texts.push_back(text);
  put(text);
}

void Page::put(const std::string& text) {
  if (!options.quiet && !options.step && !only_document()) pending_ += text;
}

void Page::flush() {
  write_out(pending_);
  pending_.clear();
}

// ---------------------------------------------------------------------------------- checking

Matrix Page::random_seed(Var root) {
  Matrix seed(root.shape());
  for (int r = 0; r < seed.rows(); ++r) {
    for (int c = 0; c < seed.cols(); ++c) {
      while (seed(r, c) == 0) seed(r, c) = Real(one_decimal(rng.normal()));
    }
  }
  return matrix(("d" + std::string(tape.node(root).name)).c_str(), seed);
}

void Page::backward(Var root, Mat seed) {
  root_ = root;
  seed_ = Matrix(seed);
  tape.backward(root, seed_);
  ++sweeps_;
  keep_parameters();
  if (options.health) swept_ = layer_gradients(tape);
  explain(false);
  if (options.step) walk();
}

int Page::done() {
  begin();
  restore_parameters();
  explain(true);
  if (options.step) walk();
  std::size_t wrong = 0, left_out = 0;
  for (const Verdict& v : verdicts_) wrong += !v.ok, left_out += !v.judged;
  flush();
  if (steps_) glass_step(section_.c_str(), steps_);
  refuse_unknown(true);
  refuse_names(options.only, told_names());
  if (options.spell_row >= 0 && !spelled_) spell_by_name();
  save_pictures();
  if (only_document()) {
    pending_ = document();
  } else {
    const LessonInfo* next = lesson_after(options.lesson.c_str());
    pending_ += explained();
    heat();
    if (options.health) health();
    if (options.profile && !options.quiet) profile();
    if (options.verbose) pending_ += "\nThe whole tape:\n" + tape_table(tape, style());
    for (const Verdict& v : verdicts_) {
      if (!v.ok || options.verbose) pending_ += spelled(fmt::format("   {:<58} {}\n", v.claim, v.text));
    }
    if (options.step && sweeps_ > 1) pending_ += fmt::format("--step walked the first of the {} sweeps of this tape. --why explains an entry in each.\n", sweeps_);
    if (!options.quiet) {
      pending_ += next ? fmt::format("\nNext: tutorials/run {}   ({})\n", next->number, next->title)
                       : "\nNext: tutorials/run shows all lessons\n";
    }
    const std::string line =
        wrong      ? fmt::format("{}: {} of {} checks FAILED", options.lesson, wrong, verdicts_.size())
        : left_out ? fmt::format("{}: {} checks ok, {} not judged on {}", options.lesson, verdicts_.size() - left_out, left_out, options.device)
                   : fmt::format("{}: all {} checks ok", options.lesson, verdicts_.size());
    pending_ += painted(line, wrong ? "1;31" : "1;32") + "\n";
  }
  flush();
  return wrong ? 1 : 0;
}

int fail(const char* lesson, const std::exception& e) {
  std::fflush(stdout);
  std::fprintf(stderr, "lesson %s: %s\n", lesson, e.what());
  return dynamic_cast<const NonFiniteError*>(&e) ? 1 : 2;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
