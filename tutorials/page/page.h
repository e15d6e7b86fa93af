// A lesson's page: everything that is not the lesson itself. It reads the options, makes the inputs, prints the
// matrices with their labels, checks every gradient that it prints, and gives the verdict.
//
// The rule of the house: no unchecked number. What a lesson prints goes through show() (a line of the tape),
// show_gradient() (with a verdict by central differences), check() or measured().
//
//   int main(int argc, char** argv) try {
//     Page page(argc, argv, "09");
//     ...
//     return page.done();                      // 0, or 1 if a check failed
//   } catch (const std::exception& e) {
//     return fail("09", e);                    // one clear message on standard error, exit code 2 (or 1 for a NaN)
//   }
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "engine/gradcheck.h"
#include "engine/health.h"
#include "engine/params.h"
#include "engine/print.h"
#include "engine/profile.h"
#include "engine/tape.h"
#include "tutorials/page/options.h"
#include "tutorials/page/told.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Thin;

// What a claim is about. A run on a device does not judge claims about double, or about the CPU's kernels (their tiles, their
// time): it says so, and does not count them as ok.
enum class About { numbers, doubles, cpu_kernels };

class Page {
 public:
  Page(int argc, char** argv, const char* lesson);

  // ---- inputs
  std::uint64_t seed() {  // of --seed, for a lesson's own random numbers
    random_ = true;
    return options.seed;
  }
  const Labels& words() const { return words_; }  // --text, --file or the default sentence
  // One row per word, width columns (--dim), or the file of --set name. The same word always gets the same row,
  // with one decimal, so that it can be followed by hand.
  Var word_vectors(const char* name, Where = {});
  Matrix word_vector(const std::string& word, int width) const;
  Matrix matrix(const char* name, const Matrix& fallback);  // --set name=..., else the fallback
  Shape shape_of(const char* name, Shape fallback);  // of the file of --set name, else the fallback
  std::string text_to_learn(const char* fallback) const;  // --file, or this one. Throws InputError with the path
  // Call it once, after the parameters are made: rounds them to one decimal, then applies --set.
  void settle(ParamStore&);

  // ---- telling
  void say(const std::string& text);  // one paragraph; UTF-8, at most 80 columns a line
  void step(const char* name, const std::string& formula, const std::string& note = "");  // a numbered heading
  void part(const std::string& name, const std::string& text);  // from here on the steps are "Back 1", "Back 2", ...
  void show(std::initializer_list<Var>, const Labels& rows = {}, const Labels& cols = {});
  void show_matrix(const char* name, Mat, const Labels& rows = {}, const Labels& cols = {});  // not a line of the tape
  void label(Var v, const Labels& rows, const Labels& cols = {}) { axes_[v.id] = {rows, cols}; }  // without showing it
  void show_row_sums(Var A, const Labels& rows = {}, const Labels& cols = {});  // softmax rows end with their sum
  void table(const std::string& lines) {  // of text, as it is; for reports whose numbers are checked elsewhere
    begin();
    put_told(lines);
  }
  void show_tape(const Tape&);
  struct Series {
    const char* name;
    std::vector<double> values;
  };
  // Drawn with *, o, +, x; from 0 to the largest value. `rough`: the picture is of training in float.
  void curve(const std::string& title, const std::vector<Series>&, bool rough = false);
  // What comes out of training in float differs from machine to machine, for it makes the last digit grow. Such lines begin with
  // ~, and a golden text does not compare them: what must hold about them is a check().
  void roughly(const std::string& text);
  void excerpt(const std::string& label, const std::string& text, int lines);  // so many lines of a text; ¶ is a line end
  void progress(const std::string& text) const;  // one line on standard error while something long runs, on a terminal
  void progress(const std::string& what, long step, long of) const;  // now and then; clears the line at the end
  void spell(Var, int row, int col);  // the arithmetic behind one entry

  // ---- the way back
  Matrix random_seed(Var root);       // a random cotangent dL/droot with one decimal: never all ones
  void backward(Var root, Mat seed);  // and remembers both for the checks
  void show_gradient(std::initializer_list<Var>);  // each with its norm and its verdict
  void spell_gradient(Var, int row, int col);      // what each line that uses it sent back

  // ---- checking; each says "ok (< tolerance)" or what is wrong, and counts towards the verdict
  struct Same {
    Mat got, want;
  };
  // |got - want| / (1 + max |want|)
  bool check(const std::string& claim, std::initializer_list<Same>, double tolerance = 1e-9, About = About::numbers);
  bool check(const std::string& claim, double got, double want, double tolerance = 1e-9, About = About::numbers);
  bool check(const std::string& claim, bool holds, About = About::numbers);
  double rounding() const { return on_device() ? 1e-5 : 1e-9; }  // what differs by less is the same value
  std::string measured(double) const;  // a number in a sentence, six digits
  std::string counted(long) const;     // a whole number in a sentence

  // For a tape of the lesson's own, tape.profile = page.profiling(): with --profile done() shows what it saw, instead of running
  // the page's tape again. nullptr without --profile.
  Profile* profiling() { return options.profile ? &profile_ : nullptr; }

  int done();  // the verdict and the next lesson; the exit code

  Tape tape;
  ParamStore params;
  Rng rng;
  const Options options;

 private:
  friend struct Speller;
  friend struct PageTeller;
  friend class Walk;
  struct Axes {
    Labels rows, cols;
  };
  struct Verdict {
    std::string claim, text;
    bool ok;
    int line = -1;       // of the tape, if it is about a gradient
    bool judged = true;  // false: About something that is not here
  };
  std::string name_of(Var) const;             // "Q", or "%4" for a line without a name
  bool shown(const std::string& name) const;  // --only, and the --at of --spell
  std::string asked() const { return options.at.empty() ? "E" : options.at; }  // the matrix that --spell means
  bool csv_wanted(const std::string& name, Mat);
  std::string spelled(const std::string& text) const;
  std::string painted(const std::string& text, const char* code) const;
  Block block(Var, const std::string& title, Mat values) const;
  std::string verdict_of_gradient(Var);
  std::string verdict_by_reference(Var);  // of a run on a device: reference.cpp
  bool report(const std::string& claim, bool ok, const std::string& text, bool judged = true);
  bool leaves_out(const std::string& claim, About);  // reports a claim that is not judged here
  static std::string below(double tolerance);  // "ok (< 1e-7)"
  double in_float(double tolerance) const;
  bool on_device() const { return options.device != "cpu"; }
  void spell_by_name();  // a line that the lesson named but did not show
  void asked_spelling(std::initializer_list<Var>, bool gradient);
  void walk();                                     // --step; step.cpp
  void explain(bool at_end);                       // --why: what the tape can tell now; why.cpp
  std::string explain_all(bool& ok);
  std::string explained() const;
  void keep_parameters();                          // swept.cpp
  void restore_parameters();
  void health();                                   // --health; health.cpp
  void profile();                                  // --profile; profile.cpp
  void run_again();                                // the page's tape, for the profile
  void refuse_unknown(bool at_end) const;
  void begin();                  // the heading, before the first step
  void put_told(const std::string&);  // and remembers it for --html
  void put(const std::string&);  // to the screen, unless -q, --json or --csv
  void flush();
  Style style() const;
  std::string json() const;      // json.cpp
  std::string json(const Thin&) const;
  std::string json_line(int id, const Thin&) const;
  Told& told();
  bool only_document() const;    // standard output is one of --json, --csv, --svg -, --dot -; documents.cpp
  std::string document();
  void save_pictures();          // --svg FILE, --dot FILE, --html FILE
  std::string html();            // html.cpp
  std::string svg() const;
  std::string picture_title() const;
  void heat();                   // --heat
  int line_named(const std::string& name, bool gradient);
  bool heat_of_line(const std::string& name, bool gradient);
  bool heat_of_told(const std::string& name);
  Labels told_names();

  Labels words_;
  std::string cut_note_;
  std::map<std::string, Matrix> given_;  // --set, read
  std::map<std::string, bool> used_;     // --set names: was there such a matrix?
  std::map<int, Axes> axes_;             // labels of tape lines
  std::vector<Verdict> verdicts_;
  std::vector<Told> told_;
  Var root_;
  Matrix seed_;
  struct SweptParameter {
    Param* param;
    unsigned version;
    Matrix value, grad;
  };
  std::vector<SweptParameter> parameters_;  // as the page's sweep left them
  Profile profile_;
  struct Explained {
    std::size_t asked;  // which --why
    std::string root, text;
  };
  std::vector<Explained> explained_;
  std::vector<LayerGradient> swept_;     // for --health: the gradients right after backward()
  std::string pending_, csv_, section_;
  std::string part_;  // "Back " on the way back
  std::string opening_;                  // of a part that has begun, for its first step
  int steps_ = 0, headings_ = 0, sweeps_ = 0;
  bool begun_ = false, walked_ = false, spelled_ = false, random_ = false;
};

int fail(const char* lesson, const std::exception&);

}  // namespace GLASS_PRECISION
}  // namespace glass
