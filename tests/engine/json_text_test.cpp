// Numbers and text as JSON.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/io/json_text.h"
#include "tests/catch.h"

using namespace glass;

TEST_CASE("a number as JSON is short, and is read back bit by bit") {
  CHECK(to_json(0.1) == "0.1");
  CHECK(to_json(0.1 + 0.2) == "0.30000000000000004");
  CHECK(to_json(0.1f) == "0.1");  // not 0.10000000149011612
  CHECK(to_json(1.0f / 3) == "0.33333334");
  CHECK(to_json(1e300) == "1e+300");
  CHECK(to_json(-2.0) == "-2");
  CHECK(to_json(0.0) == "0");
  CHECK(to_json(-0.0) == "-0.0");  // "-0" would be a whole number, and lose its sign
  for (double x = 5e-324; x < 1e300; x = x * 1.7e3 + 1e-310) {
    const std::string text = to_json(x);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    CHECK(std::memcmp(&x, &back, sizeof x) == 0);
    CHECK(text.size() <= 24);
  }
}

TEST_CASE("infinities and NaN are strings") {
  CHECK(to_json(HUGE_VAL) == "\"inf\"");
  CHECK(to_json(-HUGE_VALF) == "\"-inf\"");
  CHECK(to_json(std::nan("")) == "\"nan\"");
  CHECK(to_json(-std::nan("")) == "\"nan\"");  // on every platform
}

TEST_CASE("text as JSON cannot leave its quotes, nor a <script>") {
  CHECK(to_json("a\"b\\c\n\x01\x7f") == "\"a\\\"b\\\\c\\n\\u0001\\u007f\"");
  CHECK(to_json("</script><!-- &") == "\"\\u003c/script\\u003e\\u003c!-- \\u0026\"");
  CHECK(to_json("ᵀ√ 中\xe2\x80\xa8\xe2\x80\xa9") == "\"ᵀ√ 中\\u2028\\u2029\"");
  CHECK(to_json(std::string("a\0b", 3)) == "\"a\\u0000b\"");
  CHECK(to_json(std::vector<std::string>{"the", "cat"}) == "[\"the\",\"cat\"]");
  CHECK(to_json(std::vector<int>{}) == "[]");
  JsonObject o;
  o.add("is", to_json(true)), o.add("n", to_json(3));
  CHECK(o.done() == "{\"is\":true,\"n\":3}");
}
