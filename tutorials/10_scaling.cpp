// tutorials/10_scaling.cpp: how large is a score? Why 1/√d, what it does not promise, and what keeps scores in bounds.
// Read first: 09_self_attention.   Next: see the end of the output.   The layers: layers/attention/qk_norm.h
#include <algorithm>
#include <cmath>
#include <memory>

#include "layers/attention/qk_norm.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static Matrix normals(Shape s, Rng& rng, double deviation = 1) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(deviation * rng.normal());
  return m;
}

// The mean of x²: the variance, where the mean is known to be 0.
static double mean_square(Mat x) { return std::pow(by_hand::norm(x), 2) / (x.rows * x.cols); }

static double variance_of_products(int d, Rng rng) {  // of q · k, for 2000 random q and k
  Matrix all(Shape{2000, 1});
  for (int i = 0; i < all.rows(); ++i)
    for (int c = 0; c < d; ++c) all(i, 0) += Real(rng.normal() * rng.normal());
  return mean_square(all);
}

// Six random queries, keys and values, E = s Q Kᵀ, 21 times. Medians: the largest weight of a row, and four norms.
static void saturate(double s, Rng rng, Mat medians) {
  std::vector<Real> all[5];
  for (int draw = 0; draw < 21; ++draw) {
    Tape tape;
    const Var Q = tape.input(normals({6, 64}, rng), "Q"), K = tape.input(normals({6, 64}, rng), "K"), V = tape.input(normals({6, 4}, rng), "V");
    const Var E = scaled_scores(Q, K, s), A = softmax(E), most = row_max(A);
    tape.backward(matmul(A, V), normals({6, 4}, rng));
    for (int i = 0; i < 6; ++i) all[0].push_back(most.value()(i, 0)), all[1].push_back(Real(by_hand::norm(E.grad().block(i, 0, 1, 6))));
    const Var lines[] = {Q, K, V};
    for (int k = 0; k < 3; ++k) all[2 + k].push_back(Real(by_hand::norm(lines[k].grad())));
  }
  for (int k = 0; k < 5; ++k) std::sort(all[k].begin(), all[k].end()), medians(0, k) = all[k][all[k].size() / 2];
}

static std::unique_ptr<Variant> make(const std::string& kind, ParamStore& store, int d, int n, Rng& rng) {
  if (kind == "layer") return std::make_unique<LayerQkNorm>(store, "", d, rng);
  if (kind == "l2") return std::make_unique<L2QkNorm>(store, "", n, rng);
  if (kind == "cosine") return std::make_unique<CosineAttention>(store, "", 1, rng);
  if (kind == "temperature") return std::make_unique<LearnedTemperature>(store, "", d, rng);
  return std::make_unique<RmsQkNorm>(store, "", d, rng);
}

static Real largest_score(const std::string& kind, Mat Q, Mat K, double factor) {  // the largest |E| for `factor` Q and K
  Tape tape;
  ParamStore store;
  Rng rng(1);
  const Var q = tape.constant(by_hand::scaled(factor, Q), "Q"), k = tape.constant(by_hand::scaled(factor, K), "K");
  kind == "plain" ? attention_steps(q, k, k) : (*make(kind, store, Q.cols, Q.rows, rng))(q, k, k);
  return max(abs(tape.find("E"))).value()(0, 0);
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "10");
  Tape& tape = page.tape;
  Rng rng(page.seed());
  Matrix sizes(Shape{4, 4}), start(Shape{3, 3}), dead(Shape{4, 5}), bounds(Shape{6, 2});

  page.step("How large is q · k?", "q · k = Σ_c q_c k_c", "2000 random pairs; each component has mean 0 and variance 1");
  bool as_d = true, as_root = true;
  for (int i = 0, d = 4; i < 4; ++i, d *= 4) {
    for (std::uint64_t k = 3; k-- > 0;) {
      const double v = variance_of_products(d, Rng(options_seed + k));
      sizes(i, 0) = Real(v), sizes(i, 1) = Real(v / d), sizes(i, 2) = Real(std::sqrt(v)), sizes(i, 3) = Real(std::sqrt(v / d));
      as_d = as_d && std::fabs(v / d - 1) < 0.2, as_root = as_root && std::fabs(std::sqrt(v / d) - 1) < 0.1;
    }
  }
  page.show_matrix("sizes", sizes, {"d = 4", "d = 16", "d = 64", "d = 256"}, {"variance", "... / d", "deviation", "... / √d"});
  page.check("variance / d is 0.8 to 1.2, for three seeds", as_d);
  page.check("the deviation is 0.9 to 1.1 times √d", as_root);
  page.check("only an aligned pair reaches d: q · q is about d", std::fabs(mean_square(normals({100, 64}, rng)) - 1) < 0.1);

  page.step("Who says variance 1?", "Q = X W_q   Var(Q) = Var(X) 2C / (C + d)", "X normed and W by Xavier say so, here C = 64, d = 16. And E = Q Kᵀ / √d:");
  for (int i = 0; i < 3; ++i) {
    ParamStore store;
    const Shape s{64, i == 0 ? 64 : 16};
    const Matrix W_q = store.make("W_q", s, Init::xavier, rng).value, W_k = store.make("W_k", s, Init::xavier, rng).value;
    const Matrix Q = by_hand::product(normals({200, 64}, rng, i == 2 ? 3 : 1), W_q), K = by_hand::product(normals({200, 64}, rng, i == 2 ? 3 : 1), W_k);
    start(i, 0) = Real((i == 2 ? 9 : 1) * 128.0 / (64 + s.cols)), start(i, 1) = Real(mean_square(Q));
    start(i, 2) = Real(std::sqrt(mean_square(by_hand::product_nt(Q, K)) / s.cols));
  }
  page.show_matrix("start", start, {"d = 64", "d = 16", "Q, K × 3"}, {"formula", "Var(Q)", "deviation of E"});
  ...
