// Compiled once for each precision; CMake says which of the two functions this is.
#include "tests/cross/attention_run.h"

#include <cmath>

#include "layers/attention/multi_head.h"
#include "layers/attention/self_attention.h"
#include "layers/attention/variants.h"

using namespace glass;

static Matrix sines(Shape s, double size, double a, double b, double c) {  // size · sin(a i + b j + c)
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(size * std::sin(a * i + b * j + c));
  return m;
}

static std::vector<double> numbers(Mat m) {
  std::vector<double> all;
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.cols; ++j) all.push_back(double(m(i, j)));
  return all;
}

AttentionNumbers ATTENTION_RUN(bool fused, bool causal) {
  const int n = 33, C = 16, d = 8, d_v = 12;
  Rng rng(1);
  ParamStore store;
  SelfAttention layer(store, C, d, d_v, rng);
  layer.form = fused ? SelfAttention::Form::fused : SelfAttention::Form::steps;
  layer.q.W->set(sines({C, d}, 0.5, 1, 2, 0));
  layer.k.W->set(sines({C, d}, 0.5, 2, 1, 1));
  layer.v.W->set(sines({C, d_v}, 0.5, 3, -1, 0.3));

  const Mask seen = Mask::causal(n, n);
  Tape tape;
  const Var X = tape.input(sines({n, C}, 1, 3, 1, 0), "X");
  const Var Y = layer(X, causal ? &seen : nullptr);
  tape.backward(Y, sines({n, d_v}, 1, 2, 3, 1));
  return {numbers(Y.value()), numbers(X.grad()), numbers(layer.q.W->grad), numbers(layer.k.W->grad),
          numbers(layer.v.W->grad)};
}

std::vector<std::vector<double>> VARIANT_RUN(const std::string& name) {
  const int n = 12, d = 4, H = 2;
  Rng rng(1);
  ParamStore store;
  const std::unique_ptr<Variant> variant = make_variant(name, store, n, d, H, rng);
  Tape tape;
  const Var Q = tape.input(sines({n, H * d}, 1, 3, 1, 0), "Q"), K = tape.input(sines({n, H * d}, 1, 1, 2, 0.5), "K");
  const Var V = tape.input(sines({n, H * d}, 1, 2, -1, 0.3), "V");
  const Var Y = multi_head(Q, K, V, {.heads = H}, *variant);
  tape.backward(Y, sines({n, H * d}, 1, 2, 3, 1));
  return {numbers(Y.value()), numbers(Q.grad()), numbers(K.grad()), numbers(V.grad())};
}

std::vector<std::string> VARIANT_NAMES() {
  std::vector<std::string> names;
  for (const VariantInfo& v : all_variants()) names.push_back(v.name);
  return names;
}
