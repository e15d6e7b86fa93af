// What goes into a page: packed matrices, filled templates, and the largest page that is promised (bug report P05).
#include "tutorials/page/html.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "engine/ops.h"
#include "engine/rng.h"
#include "tests/catch.h"
#include "tutorials/page/pack.h"
#include "tutorials/page/page.h"
#include "tutorials/page/report.h"

using namespace glass;

static std::vector<unsigned char> bytes(const char* text) { return std::vector<unsigned char>(text, text + std::char_traits<char>::length(text)); }

TEST_CASE("html: base64 as in RFC 4648") {
  CHECK(base64(bytes("")) == "");
  CHECK(base64(bytes("f")) == "Zg==");
  CHECK(base64(bytes("fo")) == "Zm8=");
  CHECK(base64(bytes("foo")) == "Zm9v");
  CHECK(base64(bytes("foobar")) == "Zm9vYmFy");
  CHECK(base64({0xfb, 0xff, 0xbe}) == "+/++");
}

TEST_CASE("html: a matrix is written whole, as a map of bytes, or not at all") {
  const Matrix M = {{0.1, -2}, {3, -HUGE_VAL}};
  CHECK(packed(M, kWhole) == "[[0.1,-2],[3,\"-inf\"]]");
  CHECK(packed(M, {3, 0}) == "{\"left_out\":true}");
  // around 0: byte b is -3 + b 6/252, so 0.1 is 130.2, -2 is 42, 3 is 252; 253 is -inf
  CHECK(packed(M, {3, 9}) == "{\"map\":\"" + base64({130, 42, 252, 253}) + "\",\"rows\":2,\"columns\":2,\"low\":-3,\"high\":3}");
  // weights begin at 0; rows 0, 1 and 2 of five are blocks of 1, 2, 2 rows with a side of 3
  const Matrix W = {{1}, {0.5}, {0.25}, {0}, {0.5}};
  CHECK(packed(W, {0, 3}) == "{\"map\":\"" + base64({252, 95, 63}) + "\",\"rows\":3,\"columns\":1,\"low\":0,\"high\":1}");
  const Matrix bad = {{NAN, HUGE_VAL, 0}};
  CHECK(packed(bad, {0, 3}).find(base64({255, 254, 0})) != std::string::npos);
  CHECK(packed(Matrix(Shape{0, 3}), {0, 3}) == "[]");
}

TEST_CASE("html: the way of packing follows from what there is room for") {
  const std::vector<Shape> few = {{6, 6}, {4, 3}}, many(500, Shape{512, 512});
  CHECK(thin_for(few, 1'000'000).numbers >= 4096);
  for (const std::size_t room : {20'000'000, 2'000'000, 300'000}) {
    const Thin thin = thin_for(many, room);
    std::size_t sum = 0;
    for (const Shape& s : many) sum += packed_size(s, thin);
    CHECK(sum <= room);
  }
  CHECK(thin_for(many, 20'000'000).side == 128);
  CHECK(thin_for(many, 20'000).side == 0);
  Rng rng(7);
  for (const Shape s : {Shape{3, 5}, Shape{40, 30}, Shape{200, 7}}) {  // the estimate is no promise to break
    Matrix m(s);
    for (int r = 0; r < s.rows; ++r)
      for (int c = 0; c < s.cols; ++c) m(r, c) = Real(rng.normal());
    for (const Thin thin : {Thin{2000, 64}, Thin{0, 16}, Thin{0, 0}}) CHECK(packed(m, thin).size() <= packed_size(s, thin) * 11 / 10);
  }
}

TEST_CASE("html: a template is filled once, and text stays text") {
  CHECK(filled("a {{x}} b {{y}}{{x}}", {{"x", "{{y}}"}, {"y", "2"}}) == "a {{y}} b 2{{y}}");
  CHECK(escaped("<a href=\"x\">&") == "&lt;a href=&quot;x&quot;&gt;&amp;");
  CHECK(report_script().find("</script") == std::string::npos);  // or the browser would stop reading there
  CHECK(report_script().find("innerHTML") == std::string::npos);
  CHECK(report_frame().find("default-src 'none'") != std::string::npos);
}

TEST_CASE("html: the whys of a gradient add up, and say from where") {
  Tape tape;
  const Var x = tape.input(Matrix{{0.5, -1}, {2, 0.25}}, "x"), w = tape.input(Matrix{{1.5}, {-0.5}}, "w"), y = matmul(x, w).named("y");
  const Var z = add(y, scale(y, 3)).named("z");
  tape.backward(z, Matrix{{0.5}, {-2}});
  const std::string whys = whys_of(tape, {x.id, y.id, z.id, x.id}, 1000);
  // dx[1,0] = dy[1,0] w[0] = -8 · 1.5; y is read by z (1) and by the scale (3)
  CHECK(whys.find("{\"row\":1,\"column\":0,\"sum\":-12,\"terms\":[[2,1,0,-8,1.5,-12]],\"more\":0}") != std::string::npos);
  CHECK(whys.find("\"sum\":-8,\"terms\":[[3,1,0,-2,3,-6],[4,1,0,-2,1,-2]],\"more\":0}") != std::string::npos);
  CHECK(whys_of(tape, {x.id, w.id}, 4).find("\"1\"") == std::string::npos);  // there is room for x only
  CHECK(sources_of(tape).find("const Var x = tape.input(Matrix{{0.5, -1}") != std::string::npos);
}

// 512 tokens, 12 heads, 6 layers. The browser test opens the file that this writes.
TEST_CASE("P05 a page of 512 tokens, 12 heads and 6 layers is below 20 MB and says what it left out") {
  const int n = 512, heads = 12, layers = 6, d = 8;
  std::string text;
  for (int i = 0; i < n; ++i) text += (i ? " w" : "w") + std::to_string(i);
  std::vector<std::string> words = {"lesson", "--html", GLASS_PAGE_P05, "-q", "--tokens", std::to_string(n), "--text", text};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  Page page(int(arguments.size()), arguments.data(), "12");
  Tape& tape = page.tape;
  tape.watch_nonfinite = false;
  Rng rng(3);
  Matrix values(Shape{n, heads * d});
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < heads * d; ++c) values(r, c) = Real(rng.normal());
  Var X = tape.input(values, "X");
  page.label(X, page.words());
  for (int l = 0; l < layers; ++l) {
    const Scope layer(tape, ("layer " + std::to_string(l)).c_str());
    std::vector<Var> parts;
    for (int h = 0; h < heads; ++h) {
      const Scope head(tape, ("head " + std::to_string(h)).c_str());
      const Var Q = tape.cols(X, h * d, d);
      parts.push_back(matmul(softmax(matmul_nt(Q, Q).named("E")).named("A"), Q).named("Y"));
    }
    X = concat_cols(parts.data(), heads).named("X");
  }
  page.step("All", "A = softmax(Q Kᵀ)");
  page.show({X}, page.words());
  page.backward(X, page.random_seed(X));
  CHECK(page.done() == 0);
  std::ifstream in(GLASS_PAGE_P05, std::ios::binary);
  std::stringstream file;
  file << in.rdbuf();
  const std::string html = file.str();
  CHECK(html.size() < 20'000'000);
  CHECK(html.size() > 3'000'000);
  CHECK(html.find("this page keeps 8 bits of each entry") != std::string::npos);
}
