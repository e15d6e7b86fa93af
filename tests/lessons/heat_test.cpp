// Heat maps and sparklines in their three forms: colour, blocks, ASCII.
#include "tutorials/page/heat.h"

#include <cmath>

#include "tests/catch.h"

using namespace glass;

static const Matrix weights{{0.75, 0.25, 0}, {0.1, 0.3, 0.6}};
static const Matrix scores{{1.5, -3, 0.1}, {2, HUGE_VAL, -HUGE_VAL}};
static const HeatMap A{" A  2 x 3", weights, {"the", "cat"}, {"the", "cat", "on"}, {false, false, true, false, false, false}, true};
static const HeatMap E{" E  2 x 3", scores, {"the", "cat"}, {"the", "cat", "on"}, {}, false};

TEST_CASE("weights in blocks: from 0 to 1, hidden ones hatched, tokens on both axes") {
  CHECK(heat_map(A, {2, 80, false, false}) ==
        " A  2 x 3\n"
        "     t c\n"
        "     h a o\n"
        "     e t n\n"
        " the ▓▓░░╱╱  █▁   0.75 the\n"
        " cat   ░░▒▒  ▁▄█  0.60 on\n"
        "   0 ░░▒▒▓▓██ 1   ╱╱ hidden\n");
}

TEST_CASE("the same in ASCII") {
  CHECK(heat_map(A, {2, 80, false, true}) ==
        " A  2 x 3\n"
        "     t c\n"
        "     h a o\n"
        "     e t n\n"
        " the ##:://  @_   0.75 the\n"
        " cat ..--++  _=@  0.60 on\n"
        "   0 ..::--==++**##%%@@ 1   // hidden\n");
}

TEST_CASE("scores are centred on 0 and carry their sign; -inf is hatched, +inf is marked") {
  CHECK(heat_map(E, {1, 80, false, false}) ==
        " E  2 x 3\n"
        "     t c\n"
        "     h a o\n"
        "     e t n\n"
        " the +▒-█    █▁▆  -3.0 cat\n"
        " cat +▓!!╱╱  ▁!   2.0 the\n"
        "   -3.0 -█-▓-▒-░ 0 +░+▒+▓+█ 3.0   ╱╱ hidden\n");
}

TEST_CASE("in colour blue is positive and orange negative, with the sign in the cell") {
  const std::string text = heat_map(E, {1, 80, true, false});
  CHECK(text.find(" the \x1b[48;5;75m\x1b[38;5;16m  \x1b[0m\x1b[48;5;166m\x1b[38;5;16m- \x1b[0m") != std::string::npos);
  CHECK(text.find("!!╱╱") != std::string::npos);
}

TEST_CASE("every line keeps the width, and a large matrix is drawn by means of blocks") {
  Matrix large(Shape{100, 300});
  for (int r = 0; r < 100; ++r)
    for (int c = 0; c < 300; ++c) large(r, c) = Real(r - c) / 300;
  for (const int width : {40, 80, 132}) {
    const std::string text = heat_map({" X", large, {}, {}, {}, false}, {4, width, false, false});
    CHECK(text.find("each cell the mean of") != std::string::npos);
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      INFO(text.substr(at, end - at));
      CHECK(display_width(text.substr(at, end - at)) <= width);
    }
  }
  const Matrix four{{1, 3, 5, 7}, {1, 3, 5, 7}};  // pooled 1 x 1: nothing to pool
  CHECK(heat_map({" four", four, {}, {}, {}, false}, {}).find("mean") == std::string::npos);
}

TEST_CASE("wide and combining letters keep their columns") {
  const std::string text = heat_map({" A", weights, {"中文", "e\xcc\x81t"}, {"中", "e\xcc\x81t", "x"}, {}, true}, {2, 80, false, false});
  CHECK(text.find("       e\xcc\x81\n      中t x\n") != std::string::npos);
}

TEST_CASE("a sparkline runs from the smallest to the largest") {
  CHECK(sparkline({1, 2, 3, 4, 5, 6, 7, 8}, 80, {}) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline({8, 1, 4.6}, 80, {4, 80, false, true}) == "@_+");
  CHECK(sparkline({1, 1, 9, 9, std::nan(""), 5}, 3, {}) == "▁█!");  // the means of two
  CHECK(sparkline({5, 5}, 80, {}) == "▁▁");
  CHECK(sparkline({}, 80, {}).empty());
}

TEST_CASE("a matrix without entries, and one of zeros") {
  CHECK(heat_map({" none", Matrix(Shape{0, 3}), {}, {}, {}, false}, {}).find("none") != std::string::npos);
  const std::string zeros = heat_map({" zeros", Matrix(Shape{2, 2}), {}, {}, {}, false}, {2, 80, false, false});
  CHECK(zeros.find("\n 0 ") != std::string::npos);
  CHECK(zeros.find("nan") == std::string::npos);
}
