// The measurements of lesson 23: one head, n words, forward and back.
#pragma once

#include <string>
#include <vector>

#include "layers/attention/variants.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace field {

constexpr int kSizes[] = {32, 64, 128, 256};
constexpr int kWidth = 4;

// What one way of attending costs at each of the sizes, and how far its result is from that of plain attention.
struct Costs {
  const VariantInfo* info = nullptr;
  double pairs = 0;              // of a query and a key whose score is computed, at the largest size
  std::vector<double> numbers;   // the most in memory at once, parameters aside
  double exponent = 0;           // the p of numbers ~ n^p, fitted to the sizes
  double differs = 0;            // |Y - Y plain| / |Y plain| at the smallest size
};

Costs measure(const VariantInfo&, std::uint64_t seed);
double seconds(const std::string& variant, int n, std::uint64_t seed);  // of the processor, for one forward and back; the best of three
double fitted_exponent(const std::vector<double>& sizes, const std::vector<double>& values);  // least squares of the logarithms
void print(Page&, const std::vector<Costs>&);

}  // namespace field
}  // namespace GLASS_PRECISION
}  // namespace glass
