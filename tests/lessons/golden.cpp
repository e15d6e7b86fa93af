// Golden texts. A lesson's output must be the recorded one: words exactly, numbers up to one unit of their last digit.
// A line that begins with ~ says what training in float came to, which differs from machine to machine: it must be there, no more.
//
//   golden EXPECTED PROGRAM [OPTIONS]   compare
//   golden --update FOLDER              run every lesson of FOLDER and rewrite tests/expected and the docs' transcripts
//   golden --transcripts FOLDER         compare what the pages show of other commands: kTranscripts below
//   golden --docs                       are the transcripts in the docs the recorded ones?
//
// In a page, the text between "<!-- output NAME -->" and "<!-- end -->" is tests/expected/NAME.txt in a code block,
// "<!-- output NAME FROM TO -->" only its lines FROM to TO; after "<!-- lessons -->" stands the table of all lessons.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;
static const fs::path root = GLASS_SOURCE_DIR;

// Commands of the pages, with tests/expected/NAME.txt: the lesson, its options, and what is typed into it.
static const struct {
  const char *name, *lesson, *options, *typed;
} kTranscripts[] = {
    {"why_dW_q", "09_self_attention", "-q --why 'dW_q[1,2]'", ""},
    {"why_depth", "09_self_attention", "-q --why 'dW_q[1,2]' --depth 3 --top 2", ""},
    {"why_A", "09_self_attention", "-q --why 'A[0,3]'", ""},
    {"why_all", "09_self_attention", "-q --why all", ""},
    {"step", "09_self_attention", "-q --step", "j A\\ns\\nf\\nw dE[0,2]\\nn W_q[1,2]\\nq\\n"},
};

static std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) std::cerr << path.string() << " is missing\n", std::exit(2);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

static void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  std::cout << "wrote " << fs::relative(path, root).string() << "\n";
}

static std::string output_of(const std::string& command, int* status) {
  setenv("LC_ALL", "C.UTF-8", 1);
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  *status = pclose(pipe);
  return text;
}

static std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

static bool is_number(const std::string& s) {
  if (s.find('.') == std::string::npos) return false;  // whole numbers (shapes, line numbers) must be exact
  char* end = nullptr;
  std::strtod(s.c_str(), &end);
  return *end == 0;
}

// One word against another: "-0.1234," and "-0.1235," are the same number at four digits.
static bool same_word(std::string a, std::string b) {
  if (a == b) return true;
  while (!a.empty() && !b.empty() && a[0] == b[0] && !std::isdigit(static_cast<unsigned char>(a[0])) && a[0] != '-') a.erase(0, 1), b.erase(0, 1);
  while (!a.empty() && !b.empty() && a.back() == b.back() && !std::isdigit(static_cast<unsigned char>(a.back()))) a.pop_back(), b.pop_back();
  if (!is_number(a) || !is_number(b)) return false;
  const std::size_t digits = a.size() - a.find('.') - 1;
  return std::fabs(std::strtod(a.c_str(), nullptr) - std::strtod(b.c_str(), nullptr)) < 1.01 * std::pow(10.0, -double(digits));
}

static bool rough(const std::string& line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at != std::string::npos && line[at] == '~';
}

static bool same_line(const std::string& a, const std::string& b) {
  if (a == b || (rough(a) && rough(b))) return true;
  std::stringstream as(a), bs(b);
  std::string x, y;
  while (as >> x) {
    if (!(bs >> y) || !same_word(x, y)) return false;
  }
  return !(bs >> y);
}

static int compare(const std::string& expected_file, const std::string& command) {
  int status = 0;
  const auto got = lines_of(output_of(command, &status)), want = lines_of(read(expected_file));
  if (status) return std::cerr << command << " ended with status " << status << "\n", 1;
  for (std::size_t i = 0; i < std::max(got.size(), want.size()); ++i) {
    if (i < got.size() && i < want.size() && same_line(got[i], want[i])) continue;
    std::cerr << expected_file << ":" << i + 1 << "\n  expected: " << (i < want.size() ? want[i] : "(nothing)")
              << "\n  got:      " << (i < got.size() ? got[i] : "(nothing)") << "\nIf the change is meant: tests/run --update\n";
    return 1;
  }
  return 0;
}

static std::string field(const std::string& line, const std::string& key) {
  const std::string before = "\"" + key + "\": \"";
  const std::size_t at = line.find(before);
  if (at == std::string::npos) return "";
  return line.substr(at + before.size(), line.find('"', at + before.size()) - at - before.size());
}

// tutorials/lessons.json as a table; a number of the core path is bold.
static std::string lesson_table() {
  std::string out = "\n| | lesson | what you see |\n|---|---|---|\n";
  for (const std::string& line : lines_of(read(root / "tutorials/lessons.json"))) {
    if (field(line, "number").empty()) continue;
    const std::string bold = line.find("\"core\": true") != std::string::npos ? "**" : "";
    out += "| " + bold + field(line, "number") + bold + " | [" + field(line, "title") + "](" + field(line, "docs") + ") | " + field(line, "claim") + " |\n";
  }
  return out + "\n";
}

// The page with every transcript replaced by the recorded one.
static std::string with_transcripts(const std::string& page) {
  std::string out;
  bool inside = false;
  for (const std::string& line : lines_of(page)) {
    if (line == "<!-- end -->") inside = false;
    if (!inside) out += line + "\n";
    if (line == "<!-- lessons -->") {
      inside = true;
      out += lesson_table();
    }
    if (line.rfind("<!-- output ", 0) != 0) continue;
    inside = true;
    std::stringstream words(line.substr(12));
    std::string name, first, last;
    words >> name >> first >> last;
    const bool part = first != "-->";
    const std::size_t from = part ? std::stoul(first) : 1, to = part ? std::stoul(last) : 1000000;
    const auto recorded = lines_of(read(root / "tests/expected" / (name + ".txt")));
    out += "```text\n";
    for (std::size_t i = from; i <= std::min(to, recorded.size()); ++i) out += recorded[i - 1] + "\n";
    out += "```\n";
  }
  return out;
}

static std::vector<fs::path> pages() {
  std::vector<fs::path> all = {root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  }
  return all;
}

static std::string transcript_command(const fs::path& folder, std::size_t k) {
  const auto& t = kTranscripts[k];
  return "printf '" + std::string(t.typed) + "' | '" + (folder / t.lesson).string() + "' --color never --width 80 " + t.options;
}

static int compare_transcripts(const fs::path& folder) {
  int stale = 0;
  for (std::size_t k = 0; k < std::size(kTranscripts); ++k) {
    stale |= compare((root / "tests/expected" / kTranscripts[k].name).string() + ".txt", transcript_command(folder, k));
  }
  return stale;
}

static int update(const fs::path& folder) {
  for (std::size_t k = 0; k < std::size(kTranscripts); ++k) {
    int status = 0;
    write(root / "tests/expected" / (std::string(kTranscripts[k].name) + ".txt"), output_of(transcript_command(folder, k), &status));
    if (status) std::cerr << kTranscripts[k].name << " ended with status " << status << "\n";
  }
  for (const auto& entry : fs::directory_iterator(root / "tutorials")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string name = entry.path().stem().string();
    int status = 0;
    write(root / "tests/expected" / (name + ".txt"), output_of((folder / name).string() + " --color never --width 80", &status));
    if (status) std::cerr << name << " ended with status " << status << "\n";
  }
  for (const fs::path& p : pages()) {
    const std::string page = read(p), fresh = with_transcripts(page);
    if (fresh != page) write(p, fresh);
  }
  return 0;
}

static int check_docs() {
  int stale = 0;
  for (const fs::path& p : pages()) {
    const std::string page = read(p);
    if (with_transcripts(page) == page) continue;
    std::cerr << fs::relative(p, root).string() << ": a transcript is not the recorded one (tests/run --update)\n";
    stale = 1;
  }
  return stale;
}

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--docs") return check_docs();
  if (argc < 3) return std::cerr << "see the head of tests/lessons/golden.cpp\n", 2;
  if (first == "--transcripts") return compare_transcripts(argv[2]);
  if (first == "--update") return update(argv[2]);
  std::string command;
  for (int i = 2; i < argc; ++i) command += std::string(i > 2 ? " " : "") + "'" + argv[i] + "'";
  return compare(first, command);
}
