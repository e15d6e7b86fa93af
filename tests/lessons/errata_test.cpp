// docs/errata.md: 33 claims, and what shows that they are wrong. A row whose lesson exists names a line that the lesson
// prints, or a test.
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

static std::vector<std::string> all_matches(const std::string& text, const char* pattern) {  // the first group of each
  std::vector<std::string> all;
  const std::regex expression(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i) all.push_back((*i)[1]);
  return all;
}

static std::string without_escapes(std::string cell) {  // \| is a bar inside a cell
  for (std::size_t at; (at = cell.find("\\|")) != std::string::npos;) cell.erase(at, 1);
  return cell;
}

static std::vector<std::vector<std::string>> rows() {  // # | text | claim | correction | lesson | shown by
  std::vector<std::vector<std::string>> all;
  std::stringstream page(read(root / "docs/errata.md"));
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_search(line, std::regex("^\\| [0-9]+ \\|"))) continue;
    all.emplace_back();
    for (const std::string& cell : all_matches(line, "\\| ((?:\\\\\\||[^|])*) (?=\\|)")) all.back().push_back(without_escapes(cell));
  }
  return all;
}

static std::string output_of(const std::string& number) {  // what lesson "09" prints; nothing if there is no such lesson
  for (const auto& entry : fs::directory_iterator(root / "tests/expected")) {
    if (entry.path().filename().string().rfind(number + "_", 0) == 0) return read(entry.path());
  }
  return "";
}

static std::set<std::string> test_names() {
  std::set<std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    for (const std::string& name : all_matches(read(entry.path()), "TEST_CASE\\(\"([^\"]*)\"")) all.insert(name);
  }
  return all;
}

TEST_CASE("errata: 33 rows, numbered, each with its text, claim, correction and lesson") {
  const auto table = rows();
  REQUIRE(table.size() == 33);
  for (std::size_t i = 0; i < table.size(); ++i) {
    INFO("row " << i + 1);
    REQUIRE(table[i].size() == 6);
    CHECK(table[i][0] == std::to_string(i + 1));
    CHECK(std::set<std::string>{"A", "B", "A, B"}.count(table[i][1]) == 1);
    CHECK(table[i][2].size() > 10);
    CHECK(table[i][3].size() > 10);
    CHECK_FALSE(all_matches(table[i][4], "([0-9][0-9])").empty());
  }
}

TEST_CASE("errata: a row whose lesson exists names a line that it prints, or a test") {
  const std::set<std::string> tests = test_names();
  for (const auto& row : rows()) {
    REQUIRE(row.size() == 6);
    INFO("row " << row[0] << ": " << row[5]);
    std::string output;
    for (const std::string& number : all_matches(row[4], "([0-9][0-9])")) output += output_of(number);
    const auto spans = all_matches(row[5], "`([^`]+)`");
    CHECK((row[5] == "lesson to come") == output.empty());
    CHECK(spans.empty() == output.empty());
    for (const std::string& span : spans) {
      INFO(span);
      CHECK(span.size() >= 8);
      CHECK((tests.count(span) == 1 || output.find(span) != std::string::npos));
    }
  }
}
