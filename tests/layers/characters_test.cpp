#include "layers/text/characters.h"

#include "engine/errors.h"
#include "tests/catch.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

typedef std::vector<int> Ids;

TEST_CASE("characters: each once, sorted, there and back") {
  const Characters hello("hello");
  CHECK(hello.size() == 4);
  CHECK(hello.encode("hole") == Ids{1, 3, 2, 0});
  CHECK(hello.decode({1, 3, 2, 0}) == "hole");
  CHECK(hello.encode("").empty());
  CHECK(hello[0] == "e");
}

TEST_CASE("characters: a code point is one token, whatever its bytes") {
  const std::string text = "naïve € 世界 \xF0\x9F\x98\x80\n";
  const Characters all(text);
  CHECK(all.encode(text).size() == 13);
  CHECK(all.decode(all.encode(text)) == text);
  CHECK(all[0] == "\n");
  CHECK(all[all.size() - 1] == "\xF0\x9F\x98\x80");  // the largest number comes last
  CHECK(Characters("e\xCC\x81").size() == 2);        // a letter and a combining accent
}

TEST_CASE("characters: what is not there is named with its place") {
  const Characters hello("hello");
  CHECK_THROWS_WITH(hello.encode("hell\xC3\xB6!"), ContainsSubstring("\"ö\", character 4 of the text, is not among the 4"));
  CHECK_THROWS_AS(hello.encode("x"), InputError);
  CHECK_THROWS_WITH(hello.encode("he\xFF"), ContainsSubstring("byte at position 2"));
  CHECK_THROWS_WITH(Characters("ab\xC0\x80"), ContainsSubstring("byte at position 2"));
  CHECK_THROWS_WITH(Characters(""), ContainsSubstring("empty"));
  CHECK_THROWS_WITH(hello.decode({0, 4}), ContainsSubstring("no id 4"));
  CHECK_THROWS_WITH(hello[-1], ContainsSubstring("no id -1"));
}
