// The experiments of lesson 21: each fails in one configuration and is mended in another.
#pragma once

#include "layers/attention/variant.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace failures {

// Twelve encoder blocks with fresh weights, two heads, forward and back. bare: the sub-layers one behind the other, without
// sums and norms. For each block a column of `table`: the norm of its gradients, and how much the words differ behind it,
// √(Σ (row - mean row)²) / √(Σ row²).
void deep(Mat x, Mat dY, bool bare, std::uint64_t seed, Mat table);

// 300 AdamW steps of the task of lesson 20 on 16 questions, the same ones over and over or new ones in each step: the loss
// on the last 16, and on 200 that were never seen.
struct Losses {
  double seen, unseen;
};
Losses learn(Page&, bool new_each_time);

// One head, n words of width 4, forward and back: the most numbers in memory at once, parameters aside.
double numbers_in_memory(const Variant&, int n);

// A layer of two heads learns for 50 steps; alike: the heads start as copies of each other. The distance of their weights.
double heads_apart(Mat x, bool alike, std::uint64_t seed);

}  // namespace failures
}  // namespace GLASS_PRECISION
}  // namespace glass
