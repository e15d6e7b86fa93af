// What the user asked for. options.cpp is the only file that includes CLI11 (it takes seconds to compile).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace glass {

struct Options {
  std::string lesson;                    // "09"
  std::string text;                      // empty: the default sentence
  std::string file;
  std::map<std::string, std::string> set;  // NAME -> file.csv
  std::uint64_t seed = 2;
  int tokens = 0;                        // at most so many words
  int dim = 4;                           // width of a word's vector

  int digits = 4;
  int width = 80;
  bool color = false;
  bool ascii = false;
  std::vector<std::string> only;         // empty: everything
  std::string at;                        // the matrix that --spell means
  int spell_row = -1, spell_col = -1;    // -1: not asked for
  std::vector<std::string> why;          // entries to explain: "dW_q[1,2]", "A[0,3]", "%7[0,1]"
  int depth = 1, top = 8;                // of --why: steps along the tape; parts shown of each sum
  bool step = false;                     // walk along the tape instead of printing the page
  bool json = false;
  std::string csv;                       // NAME; empty: not asked for
  bool health = false;                   // a report about attention and gradients at the end
  bool profile = false;                  // where the time goes, at the end
  bool quiet = false, verbose = false;
  std::string variant;                   // one of the lesson's variants; the first if not asked for
  std::string preset;                    // of a lesson that trains on a text: the first if not asked for
  long steps = 0;                        // of training; 0: as the preset says
  double temperature = 0.8;              // of what it writes
  int top_k = 0;                         // 0: all
  std::vector<std::string> forms;        // of `diff`: two, or none to list them
  int heads = 2;                         // of `diff`
  std::string command;                   // as typed, for the record
};

struct LessonInfo {
  const char *number, *name, *title, *claim;
  bool core;   // on the core path
  bool words;  // works on words: --text, --file, --tokens, --dim
  const char* variants;  // "plain,fused": what --variant takes; empty: the lesson has no such option
  int tokens;            // so many words if --tokens does not say
  const char* presets;   // "quick,long": what --preset takes, and with it --file, --steps, ...; empty: it trains on no text
};
extern const LessonInfo lessons[];  // made from tutorials/lessons.json
extern const int n_lessons;
const LessonInfo& lesson_info(const char* number);
const LessonInfo* lesson_after(const char* number);  // of the core path, or after an elective of all; nullptr at the end

// Parses, and leaves the program itself: exit code 0 after --help or --version, 2 after a mistake (one line on
// standard error that names the option and the value).
Options parse_options(int argc, char** argv, const char* lesson);

}  // namespace glass
