// Files that a person gives: text and CSV. (The same through the command line: tests/lessons/cli.sh.)
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/errors.h"
#include "engine/io/csv.h"
#include "engine/io/text.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static Matrix parsed(const std::string& text) { return parse_csv(text, "board.csv"); }

static std::string refused(const std::string& text) {
  try {
    parsed(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("O07 a byte-order mark, CRLF and blank lines are fine; a trailing comma is an error with its place") {
  const std::string path = (std::filesystem::temp_directory_path() / ("glass_" + std::to_string(sizeof(Real)) + ".csv")).string();
  std::ofstream(path, std::ios::binary) << "\xEF\xBB\xBF" "1,2,3\r\n\r\n 4 ,\t5, +6\r\n";
  CHECK(bit_difference(read_csv(path), Matrix{{1, 2, 3}, {4, 5, 6}}) == "");
  std::remove(path.c_str());
  CHECK(refused("1,2,\n") == "board.csv, line 1, column 3: an empty field (a comma too many?)");
}

TEST_CASE("O08 what is not a number is refused with line and column, and nothing is guessed") {
  CHECK_THAT(refused("1,2\n3\n"), ContainsSubstring("board.csv, line 2: 1 numbers, but the first row has 2"));
  CHECK_THAT(refused("1,2\n0,5,3\n"), ContainsSubstring("decimal comma"));
  CHECK_THAT(refused("1,2x\n"), ContainsSubstring("line 1, column 2: \"2x\" is not a number"));
  CHECK_THAT(refused("1,0x10\n"), ContainsSubstring("is not a number"));
  CHECK_THAT(refused("1,1 2\n"), ContainsSubstring("is not a number"));
  CHECK_THAT(refused("nan\n"), ContainsSubstring("only finite numbers"));
  CHECK_THAT(refused("1\n-inf\n"), ContainsSubstring("line 2, column 1"));
  CHECK_THAT(refused("1e999\n"), ContainsSubstring("too large or too small"));
  if (sizeof(Real) == 4) CHECK_THAT(refused("1e39\n"), ContainsSubstring("only finite numbers"));
  CHECK(refused("") == "board.csv: no numbers in it");
  CHECK(bit_difference(parsed("1,2\n3,4"), Matrix{{1, 2}, {3, 4}}) == "");
}

TEST_CASE("a matrix written as CSV reads back bit for bit") {
  Matrix m{{0.1, -1.0 / 3, 1e-30}, {12345678.9, -0.0, 2e30}};
  m(0, 2) = std::numeric_limits<Real>::denorm_min();
  CHECK(bit_difference(parsed(to_csv(m)), m) == "");
}

TEST_CASE("O15 a file that cannot be read is named with the reason") {
  CHECK_THROWS_WITH(read_file("/no/such/file"), ContainsSubstring("/no/such/file: No such file"));
  CHECK_THROWS_WITH(read_file("/"), ContainsSubstring("it is a folder"));
}

TEST_CASE("text is split at white space, and must be UTF-8") {
  CHECK(words_of("  the\tcat,\r\n\n sat ") == std::vector<std::string>{"the", "cat,", "sat"});
  CHECK(words_of(" \n").empty());
  CHECK_THROWS_WITH(require_utf8("ab\xff", "--text"), ContainsSubstring("--text: not UTF-8 text: the byte at position 2"));
  CHECK_NOTHROW(require_utf8("naïve 世界", "--text"));
}
