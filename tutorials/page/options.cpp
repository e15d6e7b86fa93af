#include "tutorials/page/options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "engine/cpu/threads.h"
#include "engine/errors.h"
#include "engine/io/nearest.h"
#include "tutorials/page/terminal.h"

namespace glass {

// Not a lesson: tutorials/run diff A B.
static const LessonInfo kDiff = {"diff", "diff", "Where two forms part", "two ways of attending on the same words: where, and by how much, they part", false, true, "", 6, ""};

const LessonInfo& lesson_info(const char* number) {
  if (std::strcmp(number, "diff") == 0) return kDiff;
  for (int i = 0; i < n_lessons; ++i)
    if (std::strcmp(number, lessons[i].number) == 0) return lessons[i];
  throw std::logic_error(std::string("lesson ") + number + " is not in tutorials/lessons.json");
}

const char* program_version() { return GLASS_VERSION; }

const LessonInfo* lesson_after(const char* number) {
  const bool on_path = lesson_info(number).core;  // an elective leads to the next of all
  for (int i = 0; i < n_lessons; ++i)
    if ((lessons[i].core || !on_path) && std::strcmp(number, lessons[i].number) < 0) return &lessons[i];
  return nullptr;
}

static std::string did_you_mean(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string typed = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (typed.rfind("--", 0) != 0 || app.get_option_no_throw(typed)) continue;
    std::vector<std::string> known;
    for (const CLI::Option* o : app.get_options())
      for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
    const std::string best = nearest(typed, known);
    return "there is no option " + typed + (best.empty() ? "" : ", did you mean " + best + "?");
  }
  return "";
}

static std::string quoted(const std::string& word) {
  return word.find_first_of(" \t\"'$&|;<>()*?!\\") == std::string::npos && !word.empty() ? word : "\"" + word + "\"";
}

static std::pair<int, int> entry(const std::string& text) {
  int row = -1, col = -1;  // from_chars refuses what does not fit, scanf would let it wrap
  const char* end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, row);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == ',') read = std::from_chars(read.ptr + 1, end, col);
  if (read.ec != std::errc() || read.ptr != end || row < 0 || col < 0) {
    throw CLI::ValidationError("--spell", "\"" + text + "\" is not an entry: write row,column, for example 0,2");
  }
  return {row, col};
}

static void pairs_to_map(const std::vector<std::string>& pairs, std::map<std::string, std::string>& set) {
  for (const std::string& p : pairs) {
    const std::size_t at = p.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == p.size()) {
      throw CLI::ValidationError("--set", "\"" + p + "\" is not NAME=file.csv");
    }
    if (!set.emplace(p.substr(0, at), p.substr(at + 1)).second) {
      throw CLI::ValidationError("--set", p.substr(0, at) + " is set twice");
    }
  }
}

static std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> parts;
  for (std::size_t at = 0, comma; at < names.size(); at = comma + 1) {
    comma = std::min(names.find(',', at), names.size());
    parts.push_back(names.substr(at, comma - at));
  }
  return parts;
}

static CLI::Validator number(std::int64_t low, std::int64_t high) {
  return CLI::Range(low, high).description("");  // the help says what is meant, not the whole range
}

Options parse_options(int argc, char** argv, const char* lesson) {
  const LessonInfo& info = lesson_info(lesson);
  Options o;
  o.lesson = lesson;
  CLI::App app(std::string(info.number) + "  " + info.title + ": " + info.claim);
  app.name(std::string("tutorials/run ") + info.number);
  std::vector<std::string> sets;
  std::string spell, color = "auto", thread_count = "0";
  std::int64_t seed = 2;
  bool help_all = false, version = false;

  app.set_help_flag("-h,--help", "the options that matter most");
  app.add_flag("--help-all", help_all, "all options");
  o.tokens = info.tokens;
  if (info.words) {
    app.add_option("--text", o.text, "your own sentence; words are split at blanks")->type_name("WORDS");
    app.add_option("--file", o.file, "the words of a file (UTF-8)")->type_name("FILE");
    app.add_option("--tokens", o.tokens, "use at most N words (default " + std::to_string(info.tokens) + ")")->type_name("N")->check(number(1, 4096));
    app.add_option("--dim", o.dim, "width of a word's vector (default 4)")->type_name("N")->check(number(1, 4096));
  }
  if (&info == &kDiff) {
    app.add_option("forms", o.forms, "two forms; none lists them")->type_name("A B")->expected(0, 2);
    app.add_option("--heads", o.heads, "number of heads (default 2)")->type_name("N")->check(number(1, 64));
  }
  const std::vector<std::string> variants = split(info.variants);
  if (!variants.empty()) {
    o.variant = variants[0];
    app.add_option("--variant", o.variant, "which form to show: " + CLI::detail::join(variants, ", ") + " (default " + variants[0] + ")")
        ->type_name("NAME")->check(CLI::IsMember(variants).description(""));
  }
  const std::vector<std::string> presets = split(info.presets);
  if (!presets.empty()) {
    o.preset = presets[0];
    app.add_option("--file", o.file, "the text to learn from (UTF-8)")->type_name("FILE");
    app.add_option("--preset", o.preset, "size of the model and of the training: " + CLI::detail::join(presets, ", ") + " (default " + presets[0] + ")")
        ->type_name("NAME")->check(CLI::IsMember(presets).description(""));
    app.add_option("--steps", o.steps, "steps of training (default: as the preset says)")->type_name("N")->check(number(1, 100000000));
    app.add_option("--temperature", o.temperature, "of the writing: 0 always the likeliest, 1 as learned (default 0.8)")->type_name("X");
    app.add_option("--top-k", o.top_k, "write with the K likeliest characters only (default 0: all)")->type_name("K")->check(number(0, 1000000));
  }
  app.add_option("--set", sets, "numbers of your own for an input or a weight; may be repeated")->type_name("NAME=FILE.csv");
  app.add_option("--seed", seed, "random numbers: same seed, same numbers (default 2)")->type_name("N")->check(number(0, INT64_MAX - 1));  // a larger one is read as INT64_MAX

  app.add_option("--html", o.html, "a page to replay the lesson in a browser: one file, no network")->type_name("FILE");

  const std::string more = "More";
  app.add_option("--digits", o.digits, "digits after the decimal point (default 4)")->type_name("N")->check(number(0, 17))->group(more);
  int width = 0;
  app.add_option("--width", width, "columns of text (default: the terminal, or 80)")->type_name("N")->check(number(40, 1000))->group(more);
  app.add_option("--color", color, "auto, always or never")->type_name("WHEN")->check(CLI::IsMember({"auto", "always", "never"}).description(""))->group(more);
  app.add_flag("--ascii", o.ascii, "no character beyond ASCII")->group(more);
  app.add_option("--only", o.only, "show only these matrices, for example Q,K,dE")->type_name("NAMES")->delimiter(',')->group(more);
  app.add_option("--at", o.at, "the matrix that --spell means: E, Y, dQ, ...")->type_name("NAME")->group(more);
  app.add_option("--spell", spell, "write out the arithmetic behind one entry of --at NAME")->type_name("I,J")->group(more);
  app.add_option("--why", o.why, "explain one entry by the numbers that made it: dW_q[1,2], A[0,3], %7[0,1], or all; may be repeated")->type_name("ENTRY")->allow_extra_args(false)->group(more);
  app.add_option("--depth", o.depth, "--why: so many steps along the tape (default 1)")->type_name("N")->check(number(1, 1000))->group(more);
  app.add_option("--top", o.top, "--why: show the K largest parts of each sum (default 8)")->type_name("K")->check(number(1, 1000000))->group(more);
  app.add_flag("--step", o.step, "walk along the tape, forward and back: single keys on a terminal, else commands on standard input")->group(more);
  app.add_flag("--json", o.json, "everything as one JSON document, full precision")->group(more);
  app.add_option("--csv", o.csv, "one matrix as CSV, full precision: Q, dQ, ...")->type_name("NAME")->group(more);
  app.add_option("--device", o.device, "cpu, or cuda: in float, on a GPU or its kernels on the CPU; verdicts against the CPU in double")
      ->type_name("NAME")->check(CLI::IsMember({"cpu", "cuda"}).description(""))->group(more);
  app.add_option("--reference", o.reference, "with --device cuda: the --json of this lesson on the CPU (tutorials/run makes it)")->type_name("FILE")->group(more);
  app.add_option("--heat", o.heat, "at the end: these matrices and curves in shades, for example A,dE; all: every one that is shown")->type_name("NAMES")->delimiter(',')->group(more);
  app.add_option("--svg", o.svg, "the tape as a picture; - is standard output")->type_name("FILE")->group(more);
  app.add_option("--dot", o.dot, "the tape as text for Graphviz; - is standard output")->type_name("FILE")->group(more);
  app.add_option("--threads", thread_count, "how many threads the fast kernels may use (default: GLASS_THREADS, else the number of cores)")->type_name("N")->group(more);
  app.add_flag("--health", o.health, "at the end: gradient by layer, entropy by head, saturated rows, largest score")->group(more);
  app.add_flag("--profile", o.profile, "at the end: time, FLOPs and bytes of each op and line, beside the machine's limits")->group(more);
  app.add_flag("-q,--quiet", o.quiet, "the verdict only")->group(more);
  app.add_flag("-v,--verbose", o.verbose, "also the whole tape and every check")->group(more);
  app.add_flag("--version", version, "the version")->group(more);
  app.footer(std::string("Example:  tutorials/run ") + info.number + (info.words ? " --text \"the cat sat on the mat\"" : *info.presets ? " --file mine.txt --steps 1000" : " --at NAME --spell 0,0") +
             "\nPage:     docs/" + (&info == &kDiff ? "" : "lessons/") + info.name + ".md" +
             (lesson_after(lesson) ? std::string("\nNext:     tutorials/run ") + lesson_after(lesson)->number : "") +
             "\nExit:     0 every check holds, 1 a check failed, 2 a mistake in the options or the input");

  try {
    app.parse(argc, argv);
    if (!spell.empty() || !o.at.empty()) std::tie(o.spell_row, o.spell_col) = entry(spell.empty() ? "0,0" : spell);
    pairs_to_map(sets, o.set);
    if (!(o.temperature >= 0 && o.temperature <= 1000)) throw CLI::ValidationError("--temperature", "it must be from 0 to 1000");
    if (!o.text.empty() && !o.file.empty()) throw CLI::ValidationError("--text and --file", "give one of the two");
    if (o.forms.size() == 1) throw CLI::ValidationError("diff", "one form is given, \"" + o.forms[0] + "\"; it takes two");
    if (o.json + !o.csv.empty() + (o.svg == "-") + (o.dot == "-") > 1) throw CLI::ValidationError("--json, --csv, --svg - and --dot -", "standard output holds one of them");
    if (o.step && (o.json || !o.csv.empty() || o.svg == "-" || o.dot == "-")) throw CLI::ValidationError("--step", "it does not go with a document on standard output");
    if (!o.reference.empty() && o.device == "cpu") throw CLI::ValidationError("--reference", "it goes with --device cuda");
    if (o.html == "-") throw CLI::ValidationError("--html", "it needs the name of a file");
    if (o.quiet && o.verbose) throw CLI::ValidationError("-q and -v", "give one of the two");
    set_threads(parse_threads(thread_count.c_str(), "--threads"));
    threads();  // reads GLASS_THREADS: a mistake in it is reported now
  } catch (const CLI::CallForHelp&) {
    for (CLI::Option* option : app.get_options())
      if (option->get_group() == more) option->group("");  // an empty group is hidden
    write_out(app.help());
    std::exit(0);
  } catch (const CLI::ParseError& e) {
    const std::string guess = did_you_mean(app, argc, argv);
    std::fprintf(stderr, "lesson %s: %s (--help shows the options)\n", lesson, (guess.empty() ? e.what() : guess.c_str()));
    std::exit(2);
  } catch (const InputError& e) {
    std::fprintf(stderr, "lesson %s: %s (--help shows the options)\n", lesson, e.what());
    std::exit(2);
  }
  if (help_all) {
    write_out(app.help());
    std::exit(0);
  }
  if (version) {
    write_out(std::string("glassgrad ") + program_version() + ", lesson " + lesson + ", CPU, " + __VERSION__ + "\n");
    std::exit(0);
  }
  o.seed = std::uint64_t(seed);
  o.ascii = o.ascii || !utf8_locale();
  o.color = use_color(color);
  o.width = width ? width : terminal_width();
  o.command = std::string("tutorials/run ") + lesson;
  for (int i = 1; i < argc; ++i) o.command += " " + quoted(argv[i]);
  return o;
}

}  // namespace glass
