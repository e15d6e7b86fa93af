// The tape as a drawing: nothing is left out, nothing overlaps, and no name can break the text.
#include "tutorials/page/graph.h"

#include <cmath>

#include "engine/ops.h"
#include "tests/catch.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static int occurrences(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// %0 x, %1 w, %2 p = x w, %3 its first column (a view), %4 exp of it, %5 x again far below
static void record(Tape& tape, const char* name) {
  const Var x = tape.input(Matrix{{1, 2}, {3, 5}}, name), w = tape.constant(Matrix{{0.5, -1}, {2, 0.25}}, "w");
  const Var p = matmul(x, w).named("p");
  const Var y = exp(tape.cols(p, 0, 1)).named("y");
  mul_col(x, y);
}

TEST_CASE("each line of the tape lies below the lines that it reads, and boxes of a layer do not overlap") {
  Tape tape;
  record(tape, "x");
  const Drawing d = layout(tape, 150, 14);
  REQUIRE(d.places.size() > tape.nodes.size());  // the long edge from x has bends
  for (const Edge& e : d.edges) {
    REQUIRE(e.through.size() >= 2);
    for (std::size_t k = 1; k < e.through.size(); ++k) {
      CHECK(d.places[std::size_t(e.through[k])].layer == d.places[std::size_t(e.through[k - 1])].layer + 1);
    }
  }
  CHECK(d.edges.size() == 6);  // x p, w p, p view, view y, x z, y z
  for (std::size_t a = 0; a < d.places.size(); ++a) {
    CHECK(d.places[a].x - d.places[a].width / 2 >= -1e-9);
    CHECK(d.places[a].x + d.places[a].width / 2 <= d.width + 1e-9);
    for (std::size_t b = 0; b < a; ++b) {
      if (d.places[a].layer != d.places[b].layer) continue;
      CHECK(std::fabs(d.places[a].x - d.places[b].x) >= (d.places[a].width + d.places[b].width) / 2 + 14 - 1e-9);
    }
  }
}

TEST_CASE("the picture names every line, its shape and its place in the source") {
  Tape tape;
  record(tape, "x");
  const std::string svg = tape_svg(tape, "02  The tape", "six lines");
  CHECK(occurrences(svg, "<rect class=") == 1 + int(tape.nodes.size()));
  CHECK(occurrences(svg, "<path ") == 6);
  for (const char* text : {"%2 matmul  p", "2 x 2", "2 x 1", "graph_test.cpp:", "<title>02  The tape</title>", "<desc>six lines</desc>", "prefers-color-scheme: dark"})
    CHECK_THAT(svg, ContainsSubstring(text));
  const std::string dot = tape_dot(tape, "02  The tape");
  CHECK(occurrences(dot, " -> ") == 6);
  CHECK_THAT(dot, ContainsSubstring("n2 [label=\"%2 matmul  p\\n2 x 2\\ngraph_test.cpp:"));
  CHECK_THAT(dot, ContainsSubstring("n2 -> n3 [style=dashed]"));
}

TEST_CASE("a hostile name stays text") {
  Tape tape;
  record(tape, "</title><script>alert('1')</script> & \"q\" \\ \x1b[31m");
  const std::string svg = tape_svg(tape, "<b>&", "\"'<"), dot = tape_dot(tape, "\"];\n");
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("<b>") == std::string::npos);
  CHECK(svg.find('\x1b') == std::string::npos);
  CHECK_THAT(svg, ContainsSubstring("&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;q&quot;"));
  CHECK_THAT(dot, ContainsSubstring("& \\\"q\\\" \\\\ ?[31m"));
}

TEST_CASE("an empty tape is an empty picture") {
  Tape tape;
  CHECK_THAT(tape_svg(tape, "none", "nothing"), ContainsSubstring("</svg>"));
  CHECK_THAT(tape_dot(tape, "none"), ContainsSubstring("}\n"));
}
