// tutorials/23_complexity.cpp: what attention costs as the text grows, and the whole field on one page.
// Read first: 09_self_attention, 12_multi_head.   The list: layers/attention/variants.h
#include "engine/ops.h"
#include "tutorials/page/field.h"
using namespace glass;

static double entries(int n) {  // of the scores of n words
  Tape tape;
  const Var Q = tape.constant(Matrix(Shape{n, 2}), "Q");
  return double(count(matmul_nt(Q, Q).shape()));
}

// Multiplications and additions of one layer of width C for n words, by hand.
static double projections(double n, double C) { return 4 * 2 * n * C * C; }  // Q, K, V and W_o: n C C pairs each
static double scores_and_mixing(double n, double C) { return 2 * 2 * n * n * C; }  // Q Kᵀ and A V

static const field::Costs& row(const std::vector<field::Costs>& all, const std::string& name) {
  for (const field::Costs& c : all)
    if (name == c.info->name) return c;
  throw InputError("no row " + name);
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "23");
  page.step("Entries", "E = Q Kᵀ is n x n", "one number for each pair of words, whatever the width is");
  page.check("512 words: 512² = 262144 entries", entries(512), 262144);
  page.check("300 words: 300² = 90000, so 2.9 times fewer", entries(300), 90000);
  page.say("   Entries are not operations: an entry takes d products and sums, 2 d operations.");

  page.step("Operations", "projections 8 n C²   scores and mixing 4 n² C", "a layer of width C; the first grows with n, the second with n²");
  Matrix ops(Shape{2, 5});
  const int lengths[] = {128, 512, 1024, 2048, 8192};
  for (int i = 0; i < 5; ++i) {
    ops(0, i) = Real(projections(lengths[i], 512) / 1e9);
    ops(1, i) = Real(scores_and_mixing(lengths[i], 512) / 1e9);
  }
  page.show_matrix("10^9 operations, C = 512", ops, {"projections", "n² part"}, {"n = 128", "512", "1024", "2048", "8192"});
  page.check("they are equal at n = 2 C = 1024", ops(0, 2), ops(1, 2));
  page.check("a sentence is cheap: at n = 128 the n² part is 1/8", ops(1, 0), ops(0, 0) / 8);
  page.check("with a feed-forward part of width 4 C: equal at n = 6 C", projections(6, 1) + 16.0 * 6, scores_and_mixing(6, 1));
  page.check("Q Kᵀ and A V cost the same: n² C pairs each", scores_and_mixing(100, 8) / 2, 2.0 * 100 * 100 * 8);

  page.part("Field", "The whole field: one head of width 4, forward and back, measured on the tape.");
  page.step("Every way of attending", "n = 256 words",
            "pairs: scores that are computed. numbers: the most in memory at once. grows as: fitted to n = 32, 64, 128, 256. differs: "
            "|Y - Y plain| / |Y plain| at n = 32, where it is not exact: another function, not a worse one");
  std::vector<field::Costs> all;
  const std::vector<VariantInfo>& names = all_variants();
  for (std::size_t i = 0; i < names.size(); ++i) {
    page.progress("measuring", long(i), long(names.size()));
    all.push_back(field::measure(names[i], page.seed()));
  }
  page.progress("measuring", long(names.size()), long(names.size()));
  field::print(page, all);
  page.say("   Hashing (27) shares queries and keys, LessIsMore (30) chooses across heads\n   and layers: they do not fit into a row.");
  bool exact = true, others = true;
  for (const field::Costs& c : all) {
    if (c.info->exact) exact = exact && c.differs < page.rounding();
    else if (std::string(c.info->name) != "temperature") others = others && c.differs > 1e-3;  // starts at 1/√d
  }
  page.check("what is called exact is exact", exact);
  page.check("the others are other functions", others);
  page.check("plain: memory grows as n^1.9 to n^2.1", row(all, "plain").exponent > 1.9 && row(all, "plain").exponent < 2.1);
  page.check("flash is exact and grows as n^1.1 at most", row(all, "flash").differs < page.rounding() && row(all, "flash").exponent <= 1.1);
  page.check("a window: pairs and memory grow as n^1.1 at most", row(all, "window").exponent <= 1.1);
  page.check("linear, efficient, linformer: n^1.1 at most", row(all, "linear").exponent <= 1.1 && row(all, "efficient").exponent <= 1.1 && row(all, "linformer").exponent <= 1.1);

  std::vector<Page::Series> curves;
  for (const char* name : {"plain", "flash", "window"}) curves.push_back({name, row(all, name).numbers});
  page.curve("numbers in memory, n = 32, 64, 128, 256", curves);

  page.step("Time", "-v", "measured, so it differs from run to run and from machine to machine; run with -v to see it");
  if (page.options.verbose) {
    const std::vector<double> sizes = {50, 100, 200, 400};  // matrices that fit into a cache; larger ones cost more than their n²
    std::vector<double> times[3];
    Matrix ms(Shape{3, 4});
    const char* ways[] = {"plain", "flash", "window"};
    for (int w = 0; w < 3; ++w) {
      for (int i = 0; i < 4; ++i) times[w].push_back(field::seconds(ways[w], int(sizes[std::size_t(i)]), page.seed()));
      for (int i = 0; i < 4; ++i) ms(w, i) = Real(1000 * times[w][std::size_t(i)]);
    }
    page.show_matrix("milliseconds", ms, {"plain", "flash", "window"}, {"n = 50", "100", "200", "400"});
    page.check("plain: time grows as n^1.8 to n^2.2", field::fitted_exponent(sizes, times[0]) > 1.8 && field::fitted_exponent(sizes, times[0]) < 2.2, About::cpu_kernels);
    page.check("flash: as many pairs, n^1.8 to n^2.2", field::fitted_exponent(sizes, times[1]) > 1.8 && field::fitted_exponent(sizes, times[1]) < 2.2, About::cpu_kernels);
    page.check("window: n^0.8 to n^1.2", field::fitted_exponent(sizes, times[2]) > 0.8 && field::fitted_exponent(sizes, times[2]) < 1.2, About::cpu_kernels);
  }
  return page.done();
} catch (const std::exception& e) {
  return fail("23", e);
}
