// Figures as text: alignment, width, colour, and what happens to large matrices and strange letters.
#include "engine/print.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

static int widest(const std::string& text) {
  int width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, display_width(line));
  return width;
}

// The terminal columns of all decimal points in a line.
static std::vector<int> points(const std::string& line) {
  std::vector<int> all;
  for (std::size_t at = line.find('.'); at != std::string::npos; at = line.find('.', at + 1)) {
    all.push_back(display_width(line.substr(0, at)));
  }
  return all;
}

static int occurrences(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

static Block block(const std::string& title, const Matrix& values) {
  Block b;
  b.title = title;
  b.values = values;
  return b;
}

// ---- numbers and words

TEST_CASE("a number has its digits, and zero has no sign") {
  CHECK(number(0.25, 4) == "0.2500");
  CHECK(number(-1.5, 2) == "-1.50");
  CHECK(number(-0.0, 4) == "0.0000");
  CHECK(number(-0.00004, 4) == "0.0000");
  CHECK(number(-0.00006, 4) == "-0.0001");
  CHECK(number(-10, 0) == "-10");
  CHECK(number(kNan, 4) == "nan");
  CHECK(number(-kNan, 4) == "nan");
  CHECK(number(kInf, 4) == "inf");
  CHECK(number(-kInf, 4) == "-inf");
}

TEST_CASE("the width of a text is what a terminal shows") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("Größe") == 5);
  CHECK(display_width("Gro\u0308\u00dfe") == 5);  // an o and two dots, drawn over each other
  CHECK(display_width("歩く") == 4);
  CHECK(display_width("Q Kᵀ / √d") == 9);
  CHECK(display_width("\x1b[48;5;195m\x1b[38;5;16m0.5\x1b[0m") == 3);
}

TEST_CASE("a label that is too long ends in an ellipsis") {
  CHECK(clip("short", 5, false) == "short");
  CHECK(clip("longer", 5, false) == "long…");
  CHECK(clip("longer", 5, true) == "long~");
  CHECK(clip("Größenordnung", 5, false) == "Größ…");
  CHECK(clip("歩く人々", 5, false) == "歩く…");
  CHECK(clip("abcde\u0301fg", 6, false) == "abcde\u0301…");  // an accent stays with its letter
  CHECK(clip("歩く人々", 4, false) == "歩…");                // half a character does not fit
}

TEST_CASE("a long line is folded at a blank, and keeps its indent") {
  CHECK(folded("one two three", 13) == "one two three");
  CHECK(folded("one two three", 12) == "one two\nthree");
  CHECK(folded("  one two\nthree four", 7) == "  one\n  two\nthree\nfour");
  CHECK(folded("unbreakable", 5) == "unbreakable");
  CHECK(folded("short\n", 9) == "short\n");
}

TEST_CASE("to_ascii spells symbols and leaves no other byte") {
  CHECK(to_ascii("E = Q Kᵀ / √d") == "E = Q K^T / sqrt d");
  CHECK(to_ascii("plain") == "plain");
  for (unsigned char c : to_ascii("Größe 歩 Σ ∘ 𝛼 \xff …")) CHECK(c < 0x80);
}

// ---- one matrix

TEST_CASE("a figure shows title, labels, numbers and footer, each row on its line") {
  const Matrix m{{1, -2.5}, {0.25, 10}};
  Block b = block("A  %3  2 x 2", m);
  b.rows = {"the", "cat"};
  b.cols = {"sat", "on"};
  b.footer = {"rows sum to 1"};
  const std::vector<std::string> lines = lines_of(figure({b}, {}));
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], ContainsSubstring("A  %3  2 x 2"));
  CHECK_THAT(lines[1], ContainsSubstring("sat") && ContainsSubstring("on"));
  CHECK_THAT(lines[2], ContainsSubstring("the") && ContainsSubstring(" 1.0000") && ContainsSubstring(" -2.5000"));
  CHECK_THAT(lines[3], ContainsSubstring("cat") && ContainsSubstring(" 0.2500") && ContainsSubstring(" 10.0000"));
  CHECK_THAT(lines[4], ContainsSubstring("rows sum to 1"));
}

TEST_CASE("rows and columns without labels are numbered from 0") {
  const Matrix m{{1, 2}, {3, 4}};
  const std::vector<std::string> lines = lines_of(figure({block("m", m)}, {}));
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[1], ContainsSubstring("0") && ContainsSubstring("1"));
  CHECK_THAT(lines[2], ContainsSubstring("0") && ContainsSubstring("1.0000"));
  CHECK_THAT(lines[3], ContainsSubstring("1") && ContainsSubstring("3.0000"));
}

TEST_CASE("decimal points stand below each other, whatever the numbers and labels") {
  const Matrix m{{1, -1234.5678, 0}, {-99999.125, 2, -0.00001}, {0.5, 3, 12}};
  Block b = block("m", m);
  b.rows = {"歩く", "Größe", "plain"};
  b.cols = {"人々", "é", "a very long label"};
  const std::vector<std::string> lines = lines_of(figure({b}, {}));
  REQUIRE(lines.size() == 5);
  CHECK(points(lines[2]).size() == 3);
  CHECK(points(lines[3]) == points(lines[2]));
  CHECK(points(lines[4]) == points(lines[2]));
  CHECK_THAT(lines[1], ContainsSubstring("a very") && ContainsSubstring("…") && !ContainsSubstring("label"));
  CHECK(lines[3].find("-0.0000") == std::string::npos);
}

TEST_CASE("numbers that are not finite keep the columns aligned") {
  const Matrix m{{kNan, 1, 2}, {3, -kInf, 4}, {5, 6, kInf}};
  const std::vector<std::string> lines = lines_of(figure({block("m", m)}, {}));
  REQUIRE(lines.size() == 5);
  const std::vector<int> a = points(lines[2]), b = points(lines[3]), c = points(lines[4]);
  REQUIRE((a.size() == 2 && b.size() == 2 && c.size() == 2));
  CHECK(b[0] == c[0]);
  CHECK(a[0] == c[1]);
  CHECK(a[1] == b[1]);
  CHECK_THAT(lines[2], ContainsSubstring("nan") && !ContainsSubstring("-nan"));
  CHECK_THAT(lines[3], ContainsSubstring(" -inf"));
  CHECK_THAT(lines[4], ContainsSubstring(" inf"));
}

TEST_CASE("very large and very small numbers are shown with an exponent, and it is said") {
  const Matrix large{{1e7, 1}}, small{{1e-7, 2e-7}}, zero{{0, 0}};
  CHECK_THAT(figure({block("m", large)}, {}), ContainsSubstring("1.00e+07") && ContainsSubstring("scientific"));
  CHECK_THAT(figure({block("m", small)}, {}), ContainsSubstring("2.00e-07") && ContainsSubstring("scientific"));
  CHECK_THAT(figure({block("m", zero)}, {}), ContainsSubstring("0.0000") && !ContainsSubstring("scientific"));
}

TEST_CASE("a hidden entry is a dot, not a number") {
  const Matrix m{{0.5, 0}, {0.25, 0.75}};
  Block b = block("A", m);
  b.hidden = {false, true, false, false};
  CHECK_THAT(figure({b}, {}), ContainsSubstring("·") && !ContainsSubstring("0.0000") && ContainsSubstring("0.7500"));
  Style ascii;
  ascii.ascii = true;
  CHECK_THAT(lines_of(figure({b}, ascii))[2], Catch::Matchers::EndsWith(" ."));
}

TEST_CASE("an extra column stands behind a bar") {
  const Matrix m{{0.5, 0.5}, {0.25, 0.75}};
  Block b = block("A", m);
  b.extra_title = "sum";
  b.extra = {1, 1.5};
  const std::vector<std::string> lines = lines_of(figure({b}, {}));
  CHECK_THAT(lines[1], ContainsSubstring("|") && Catch::Matchers::EndsWith("sum"));
  CHECK_THAT(lines[2], ContainsSubstring("|") && Catch::Matchers::EndsWith(" 1.0000"));
  CHECK_THAT(lines[3], ContainsSubstring("|") && Catch::Matchers::EndsWith(" 1.5000"));
}

// ---- large ones

TEST_CASE("more than 1000 entries are shown by their edges") {
  Matrix m(Shape{50, 40});
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j < 40; ++j) m(i, j) = Real(i + j / 100.0);
  Style wide;
  wide.width = 200;
  const std::string text = figure({block("m", m)}, wide);
  const std::vector<std::string> lines = lines_of(text);
  REQUIRE(lines.size() == 9);  // title, labels, three rows, the gap, three rows
  for (int line : {2, 3, 4, 6, 7, 8}) CHECK(points(lines[std::size_t(line)]).size() == 6);
  CHECK(points(lines[5]).empty());
  CHECK_THAT(text, ContainsSubstring("0.0200") && !ContainsSubstring("0.0300"));
  CHECK_THAT(text, ContainsSubstring("2.3700") && !ContainsSubstring("2.3600"));
  CHECK_THAT(text, ContainsSubstring("47.3700") && !ContainsSubstring("46.3700") && ContainsSubstring("49.3900"));
  CHECK_THAT(text, ContainsSubstring("…"));
}

TEST_CASE("1000 entries are shown one and all") {
  Matrix m(Shape{100, 10});
  CHECK(occurrences(figure({block("m", m)}, {}), "0.0000") == 1000);
}

TEST_CASE("a wide matrix is cut into bands of columns") {
  Matrix m(Shape{3, 30});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 30; ++j) m(i, j) = Real(i * 100 + j);
  for (int width = 32; width <= 120; ++width) {
    Style style;
    style.width = width;
    Block b = block("m", m);
    b.rows = {"first", "second", "third"};
    b.extra_title = "sum";
    b.extra = {1000, 2000, 3000};
    const std::string text = figure({b}, style);
    INFO("width " << width << "\n" << text);
    CHECK(widest(text) <= width);
    CHECK(occurrences(text, "first") == occurrences(text, "third"));
    CHECK(occurrences(text, "first") > 1);
    for (int j = 0; j < 30; ++j) CHECK(occurrences(text, " " + number(200 + j, 4)) == 1);
  }
}

// ---- several matrices

TEST_CASE("matrices stand side by side while they fit, and then below each other") {
  const Matrix q{{1, 2}, {3, 4}}, k{{5, 6}, {7, 8}}, v{{9, 10}, {11, 12}};
  const std::vector<Block> blocks = {block("Q", q), block("K", k), block("V", v)};
  for (int width = 18; width <= 80; ++width) {
    Style style;
    style.width = width;
    const std::string text = figure(blocks, style);
    INFO("width " << width << "\n" << text);
    CHECK(widest(text) <= width);
    for (int x = 1; x <= 12; ++x) CHECK(occurrences(text, " " + number(x, 4)) == 1);
    const std::vector<std::string> lines = lines_of(text);
    if (width == 80) CHECK(lines.size() == 4);
    if (width == 18) CHECK(lines.size() == 12);
    if (width == 80) CHECK(points(lines[2]) == points(lines[3]));
  }
}

TEST_CASE("matrices with other rows stand below each other: the row labels are those of each") {
  const Matrix a{{1, 2}, {3, 4}, {5, 6}}, b{{7, 8}};
  CHECK(figure({block("b", b), block("a", a)}, {}) == figure({block("b", b)}, {}) + figure({block("a", a)}, {}));
  Block named = block("c", a);
  named.rows = {"x", "y", "z"};
  CHECK(figure({block("a", a), named}, {}) == figure({block("a", a)}, {}) + figure({named}, {}));
}

// ---- colour and characters

TEST_CASE("cells are coloured only when colour is wanted, and the text stays the same") {
  const Matrix m{{1, -1}, {0.01, 0}};
  Style plain, color;
  color.color = true;
  const std::string without = figure({block("m", m)}, plain);
  std::string with = figure({block("m", m)}, color);
  CHECK(without.find('\x1b') == std::string::npos);
  CHECK(with.find('\x1b') != std::string::npos);
  CHECK(widest(with) == widest(without));
  CHECK(occurrences(with, "\x1b[0m") == 2);  // the two large ones
  CHECK(occurrences(with, "\x1b[48;5;111m") == 1);
  CHECK(occurrences(with, "\x1b[48;5;209m") == 1);
  for (std::size_t at = with.find('\x1b'); at != std::string::npos; at = with.find('\x1b')) {
    with.erase(at, with.find('m', at) + 1 - at);
  }
  CHECK(with == without);
}

TEST_CASE("a figure in ASCII has no other byte") {
  Matrix m(Shape{40, 40});
  m(0, 0) = Real(kNan), m(1, 1) = Real(-kInf);
  Block b = block(to_ascii("E = Q Kᵀ / √d"), m);
  b.rows = {to_ascii("Größe der Anordnung")};
  b.cols = {to_ascii("歩く人々と犬と猫と鳥")};
  b.hidden.assign(1600, false);
  b.hidden[2] = true;
  Style style;
  style.ascii = true;
  const std::string text = figure({b, b}, style);
  CHECK(std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }));
  CHECK_THAT(text, ContainsSubstring("...") && ContainsSubstring("~"));
}

// ---- a tape

TEST_CASE("a tape as a table has one line for each of its lines") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x"), c = tape.constant(Matrix{{3, 4}}, "c");
  const Var y = sum(mul(x, c)).named("y");
  tape.backward(y);
  const std::vector<std::string> lines = lines_of(tape_table(tape, {}));
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], ContainsSubstring("op") && ContainsSubstring("shape") && ContainsSubstring("gradient"));
  CHECK_THAT(lines[1], ContainsSubstring("%0") && ContainsSubstring("input") && ContainsSubstring("1 x 2") &&
                           Catch::Matchers::EndsWith("yes"));
  CHECK_THAT(lines[2], ContainsSubstring("constant") && Catch::Matchers::EndsWith("no"));
  CHECK_THAT(lines[3], ContainsSubstring("mul") && ContainsSubstring("%0 %1"));
  CHECK_THAT(lines[4], ContainsSubstring("sum") && ContainsSubstring("y") && ContainsSubstring("11.0000") &&
                           Catch::Matchers::EndsWith("1.0000"));
}
