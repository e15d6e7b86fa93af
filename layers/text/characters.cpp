#include "layers/text/characters.h"

#include <algorithm>
#include <set>

#include "engine/errors.h"
#include "engine/io/text.h"
#include "engine/io/utf8.h"

namespace glass {
inline namespace GLASS_PRECISION {

static std::vector<std::string> cut(const std::string& text) {
  require_utf8(text, "characters");
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size(); at += parts.back().size()) parts.push_back(text.substr(at, utf8_length(text, at)));
  return parts;
}

Characters::Characters(const std::string& text) {
  const std::vector<std::string> parts = cut(text);
  const std::set<std::string> once(parts.begin(), parts.end());
  all_.assign(once.begin(), once.end());
  if (all_.empty()) throw InputError("characters: the text is empty, so there is no vocabulary");
}

std::vector<int> Characters::encode(const std::string& text) const {
  const std::vector<std::string> parts = cut(text);
  std::vector<int> ids;
  ids.reserve(parts.size());
  for (const std::string& c : parts) {
    const auto found = std::lower_bound(all_.begin(), all_.end(), c);
    if (found == all_.end() || *found != c) {
      throw InputError("characters: \"" + c + "\", character " + std::to_string(ids.size()) + " of the text, is not among the " +
                       std::to_string(size()) + " of the vocabulary");
    }
    ids.push_back(int(found - all_.begin()));
  }
  return ids;
}

std::string Characters::decode(const std::vector<int>& ids) const {
  std::string text;
  for (const int id : ids) text += (*this)[id];
  return text;
}

const std::string& Characters::operator[](int id) const {
  if (id < 0 || id >= size()) throw InputError("characters: there is no id " + std::to_string(id) + ", they are 0 to " + std::to_string(size() - 1));
  return all_[std::size_t(id)];
}

}  // namespace GLASS_PRECISION
}  // namespace glass
