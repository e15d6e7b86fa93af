// Values as JSON text. A document is small pieces joined by hand: there is nothing to it that needs a library.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace glass {

// In quotes. What could end a <script> in a page of HTML is written as \u003c, so a document can stand inside one.
std::string to_json(const std::string& text);
std::string to_json(const char*);

// The shortest number that is read back as exactly this one: at most 17 digits of a double, 9 of a float. JSON has no
// infinity and no NaN: they are the strings "inf", "-inf" and "nan", which float() of Python reads.
std::string to_json(double);
std::string to_json(float);
std::string to_json(int);
std::string to_json(bool);
std::string to_json(const std::vector<int>&);          // [1,2]
std::string to_json(const std::vector<std::string>&);  // ["the","cat"]

struct JsonArray {
  std::string text;  // without the brackets
  void add(const std::string& element) { text += (text.empty() ? "" : ",") + element; }
  std::string done(const char* between = "") const { return "[" + std::string(between) + text + between + "]"; }
};

struct JsonObject {
  std::string text;
  void add(const std::string& key, const std::string& element) { text += (text.empty() ? "" : ",") + to_json(key) + ":" + element; }
  std::string done() const { return "{" + text + "}"; }
};

}  // namespace glass
