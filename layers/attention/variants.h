// Every way of attending, by name: for tests that hold for all of them, for the table of lesson 23 and `tutorials/run diff`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/params.h"
#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The number of pairs of a query and a key that a variant computes for n words: what grows.
enum class Growth { square, window, linear, low_rank };

struct VariantInfo {
  const char* name;
  const char* lesson;  // "24"
  bool exact;          // the same numbers as plain attention, up to rounding
  Growth growth;
  const char* what;    // in a few words
};

const std::vector<VariantInfo>& all_variants();
const VariantInfo& variant_info(const std::string& name);  // throws InputError with the names that there are

// One with small settings, for `heads` heads of width d and texts of n words; its parameters, if it has any, go into the store.
std::unique_ptr<Variant> make_variant(const std::string& name, ParamStore&, int n, int d, int heads, Rng&);

}  // namespace GLASS_PRECISION
}  // namespace glass
