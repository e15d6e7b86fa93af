#include "engine/io/utf8.h"

#include "tests/catch.h"

using namespace glass;

TEST_CASE("characters of one to four bytes are valid UTF-8") {
  CHECK(utf8_length("A", 0) == 1);
  CHECK(utf8_length("\x7f", 0) == 1);
  CHECK(utf8_length("\xc2\x80", 0) == 2);          // U+0080, the first of two bytes
  CHECK(utf8_length("\xdf\xbf", 0) == 2);          // U+07FF, the last
  CHECK(utf8_length("\xe0\xa0\x80", 0) == 3);      // U+0800
  CHECK(utf8_length("\xed\x9f\xbf", 0) == 3);      // U+D7FF, the last before the surrogates
  CHECK(utf8_length("\xee\x80\x80", 0) == 3);      // U+E000, the first after them
  CHECK(utf8_length("\xef\xbf\xbf", 0) == 3);      // U+FFFF
  CHECK(utf8_length("\xf0\x90\x80\x80", 0) == 4);  // U+10000
  CHECK(utf8_length("\xf4\x8f\xbf\xbf", 0) == 4);  // U+10FFFF, the last of all
  CHECK(utf8_error("Größe 歩 𝛼") == std::string::npos);
  CHECK(utf8_error("") == std::string::npos);
  CHECK(utf8_error(std::string("a\0b", 3)) == std::string::npos);
}

TEST_CASE("utf8_length counts from where it is told") {
  const std::string text = "a歩b";
  CHECK(utf8_length(text, 1) == 3);
  CHECK(utf8_length(text, 2) == 0);  // in the middle of a character
  CHECK(utf8_length(text, 4) == 1);
  CHECK(utf8_length(text, 5) == 0);  // past the end
}

TEST_CASE("bytes that are not UTF-8 are found where they are") {
  CHECK(utf8_error("\xe6\xad") == 0);          // cut off
  CHECK(utf8_error("\xc0\x80") == 0);          // zero in two bytes
  CHECK(utf8_error("\xc1\xbf") == 0);          // overlong too
  CHECK(utf8_error("\xe0\x9f\xbf") == 0);      // overlong in three bytes
  CHECK(utf8_error("\xf0\x8f\xbf\xbf") == 0);  // and in four
  CHECK(utf8_error("\xed\xa0\x80") == 0);      // the first surrogate
  CHECK(utf8_error("\xed\xbf\xbf") == 0);      // the last
  CHECK(utf8_error("\xf4\x90\x80\x80") == 0);  // above U+10FFFF
  CHECK(utf8_error("\xf5\x80\x80\x80") == 0);
  CHECK(utf8_error("\x80") == 0);  // a continuation of nothing
  CHECK(utf8_error("hel\xfflo") == 3);
  CHECK(utf8_error("歩\xe6\xadx") == 3);  // cut off by a letter
  CHECK(utf8_error("歩歩\x80") == 6);
}
