// The rules of the house, read from the files themselves.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace fs = std::filesystem;
static const fs::path root = GLASS_SOURCE_DIR;

static std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

static std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

static int characters(const std::string& line) {  // code points: none of ours is wider than a column
  int n = 0;
  for (const char c : line) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return n;
}

struct Lesson {
  std::string number, name, title, docs, test;
  std::vector<std::string> layers, ops;
};

static std::string field(const std::string& line, const std::string& key) {
  std::smatch m;
  const std::regex pattern("\"" + key + "\": \"([^\"]*)\"");
  return std::regex_search(line, m, pattern) ? m[1].str() : "";
}

static std::vector<std::string> list(const std::string& line, const std::string& key) {
  std::smatch m;
  const std::regex pattern("\"" + key + "\": \\[([^\\]]*)\\]"), item("\"([^\"]+)\"");
  std::vector<std::string> all;
  if (!std::regex_search(line, m, pattern)) return all;
  const std::string inside = m[1];
  for (std::sregex_iterator i(inside.begin(), inside.end(), item), end; i != end; ++i) all.push_back((*i)[1]);
  return all;
}

static std::vector<Lesson> lessons() {
  std::vector<Lesson> all;
  for (const std::string& line : lines_of(root / "tutorials/lessons.json")) {
    if (field(line, "number").empty()) continue;
    all.push_back({field(line, "number"), field(line, "name"), field(line, "title"), field(line, "docs"), field(line, "test"),
                   list(line, "layers"), list(line, "ops")});
  }
  return all;
}

static std::vector<fs::path> sources(const std::string& room) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".cpp" || ending == ".h" || ending == ".py" || ending == ".sh" || ending == ".cu") all.push_back(entry.path());
  }
  return all;
}

TEST_CASE("every lesson has its program, page, golden text, layers with tests, and ops") {
  REQUIRE(lessons().size() >= 4);
  std::set<std::string> in_table;
  for (const Lesson& l : lessons()) {
    INFO(l.name);
    in_table.insert(l.name + ".cpp");
    CHECK(l.name.rfind(l.number + "_", 0) == 0);
    CHECK(fs::exists(root / "tutorials" / (l.name + ".cpp")));
    CHECK(fs::exists(root / l.docs));
    CHECK(fs::exists(root / l.test));
    for (const std::string& layer : l.layers) {
      INFO(layer);
      CHECK(fs::exists(root / "layers" / (layer + ".h")));
      CHECK(fs::exists(root / "layers" / (layer + ".cpp")));
      CHECK(fs::exists(root / "tests/layers" / (fs::path(layer).stem().string() + "_test.cpp")));
    }
    for (const std::string& op : l.ops) CHECK(fs::exists(root / "engine/ops" / (op + ".cpp")));
  }
  for (const auto& entry : fs::directory_iterator(root / "tutorials")) {
    if (entry.path().extension() == ".cpp") CHECK(in_table.count(entry.path().filename().string()) == 1);
  }
}

TEST_CASE("every layer is taught by a lesson, or is part of one that is") {
  std::set<std::string> taught;
  for (const Lesson& l : lessons()) taught.insert(l.layers.begin(), l.layers.end());
  for (const fs::path& p : sources("layers")) {
    if (p.extension() != ".h") continue;
    const std::string name = fs::relative(p, root / "layers").replace_extension().string();
    INFO(name);
    CHECK(taught.count(name) == 1);
  }
}

TEST_CASE("lessons keep their budget: 120 lines of source, 150 lines of 80 columns of output") {
  for (const Lesson& l : lessons()) {
    INFO(l.name);
    CHECK(lines_of(root / "tutorials" / (l.name + ".cpp")).size() <= 120);
    const auto output = lines_of(root / l.test);
    CHECK(output.size() <= 150);
    for (const std::string& line : output) {
      INFO(line);
      CHECK(characters(line) <= 80);
    }
    CHECK(output.back().find("checks ok") != std::string::npos);
  }
}

TEST_CASE("a lesson prints through its page only: no unchecked number") {
  const std::regex other("printf|std::cout|std::cerr|\\bputs\\b|fputs|fwrite|fmt::|write_out|\\bputchar\\b");
  for (const Lesson& l : lessons()) {
    INFO(l.name);
    std::smatch m;
    const std::string text = read(root / "tutorials" / (l.name + ".cpp"));
    CHECK_FALSE(std::regex_search(text, m, other));
    // a number inside a sentence goes through measured()
    CHECK(text.find("to_text(") == std::string::npos);
    CHECK(text.find("to_string(") == std::string::npos);
  }
}

TEST_CASE("includes never point back") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> forbidden = {
      {"engine", {"layers/", "tutorials/", "tests/"}}, {"layers", {"tutorials/", "tests/"}}, {"tutorials", {"tests/"}}};
  for (const auto& [room, rooms] : forbidden) {
    for (const fs::path& p : sources(room)) {
      const std::string text = read(p);
      for (const std::string& r : rooms) {
        INFO(p.string() << " includes " << r);
        CHECK(text.find("#include \"" + r) == std::string::npos);
      }
    }
  }
  for (const char* room : {"engine/cpu", "engine/cuda"}) {  // kernels know matrices, not the tape
    for (const fs::path& p : sources(room)) CHECK(read(p).find("engine/tape.h") == std::string::npos);
  }
}

TEST_CASE("no #if mentions CUDA outside engine/cuda") {
  const std::regex conditional("\n[ \t]*#[ \t]*(if|ifdef|ifndef|elif)[^\n]*CUDA");
  for (const char* room : {"engine", "layers", "tutorials", "tests"}) {
    for (const fs::path& p : sources(room)) {
      INFO(p.string());
      CHECK((fs::relative(p, root).string().rfind("engine/cuda", 0) == 0 || !std::regex_search("\n" + read(p), conditional)));
    }
  }
}

TEST_CASE("only one file includes CLI11, and errors.h stays free of fmt") {
  int with_cli = 0;
  for (const char* room : {"engine", "layers", "tutorials"}) {
    for (const fs::path& p : sources(room)) with_cli += read(p).find("#include <CLI/") != std::string::npos;
  }
  CHECK(with_cli == 1);
  CHECK(read(root / "engine/errors.h").find("fmt/") == std::string::npos);
}

TEST_CASE("no file is longer than 320 lines") {
  for (const char* room : {"engine", "layers", "tutorials", "tests"}) {
    for (const fs::path& p : sources(room)) {
      INFO(fs::relative(p, root).string());
      CHECK(lines_of(p).size() <= 320);
    }
  }
}

TEST_CASE("the evening path of docs/map.md is under 1500 lines and never meets fast or CUDA code") {
  const std::string map = read(root / "docs/map.md");
  const std::size_t from = map.find("<!-- evening path -->"), to = map.find("<!-- end of path -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string path = map.substr(from, to - from);
  const std::regex file("`((?:engine|layers|tutorials)/[A-Za-z0-9_/.]+)`");
  std::size_t total = 0, files = 0;
  for (std::sregex_iterator i(path.begin(), path.end(), file), end; i != end; ++i, ++files) {
    const fs::path p = root / (*i)[1].str();
    INFO(p.string());
    REQUIRE(fs::exists(p));
    CHECK(p.string().find("cuda") == std::string::npos);
    total += lines_of(p).size();
  }
  CHECK(files >= 15);
  CHECK(total < 1500);
}

TEST_CASE("the README lists every lesson of the table") {
  const std::string readme = read(root / "README.md");
  for (const Lesson& l : lessons()) {
    INFO(l.name);
    CHECK(readme.find(l.number) != std::string::npos);
    CHECK(readme.find("(" + l.docs + ")") != std::string::npos);
    CHECK(readme.find(l.title) != std::string::npos);
  }
}

TEST_CASE("every link of the docs leads to a file") {
  std::vector<fs::path> pages = {root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  const std::regex link("\\]\\(([^)#: ]+)(?:#[^)]*)?\\)");
  for (const fs::path& page : pages) {
    const std::string text = read(page);
    for (std::sregex_iterator i(text.begin(), text.end(), link), end; i != end; ++i) {
      INFO(page.string() << " -> " << (*i)[1].str());
      CHECK(fs::exists(page.parent_path() / (*i)[1].str()));
    }
  }
}

TEST_CASE("the C++ in the lesson pages is the code of the repository, word for word") {
  std::string code;
  for (const char* room : {"engine", "layers", "tutorials"}) {
    for (const fs::path& p : sources(room)) code += read(p);
  }
  for (const Lesson& l : lessons()) {
    const std::string page = read(root / l.docs);
    for (std::size_t at = page.find("```cpp\n"); at != std::string::npos; at = page.find("```cpp\n", at + 1)) {
      const std::string block = page.substr(at + 7, page.find("```", at + 7) - at - 7);
      INFO(l.docs << "\n" << block);
      CHECK(code.find(block) != std::string::npos);
    }
  }
}

TEST_CASE("the page of a lesson ends with the lesson that the program names next") {
  const std::vector<Lesson> all = lessons();
  for (const Lesson& l : all) {
    INFO(l.docs);
    const std::string output = read(root / l.test);
    std::smatch m;
    REQUIRE(std::regex_search(output, m, std::regex("Next: tutorials/run ([0-9]+)|Next: tutorials/run shows all lessons")));
    std::string link = "`tutorials/run` lists all lessons";
    for (const Lesson& next : all)
      if (next.number == m[1]) link = "[" + next.number + " · " + next.title + "](" + next.name + ".md)";
    CHECK(lines_of(root / l.docs).back() == "Next: " + link);
  }
}

TEST_CASE("a misconception names a line that the lesson really prints") {
  const std::regex span("`([^`]+)`");
  for (const Lesson& l : lessons()) {
    const std::string output = read(root / l.test);
    bool table = false;
    int named = 0;
    for (const std::string& line : lines_of(root / l.docs)) {
      table = line.find("the line that shows it") != std::string::npos || (table && line[0] == '|');
      if (!table) continue;
      const std::string last = line.substr(line.rfind('|', line.size() - 2));
      for (std::sregex_iterator i(last.begin(), last.end(), span), end; i != end; ++i) {
        const std::string claim = (*i)[1];
        const bool elsewhere = claim.find("central differences") != std::string::npos || claim.rfind("self-attention:", 0) == 0;
        if (claim.find(' ') == std::string::npos || elsewhere) continue;
        INFO(l.name << ": " << claim);
        CHECK(output.find(claim) != std::string::npos);
        ++named;
      }
    }
    CHECK(named >= 3);
  }
}
