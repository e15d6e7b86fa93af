// Attention over depth: to ten digits, and what it must have in common with a residual network.
#include "layers/attention_residuals.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static void check_fingerprint(double got, double want) {
  CHECK(got == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute));
}

namespace {
// Four sources of three tokens and width 5, by formula.
struct Fixture {
  Tape tape;
  std::vector<Var> v;
  Var w, gain, h;
  Matrix dh = cosines({3, 5}, 1, 2, 3, 1);

  explicit Fixture(double size_of_w) {
    for (int x = 0; x < 4; ++x) v.push_back(tape.input(sines({3, 5}, 1 + x, 3, 1, 2 * x + 0.1), "v"));
    w = tape.input(cosines({5, 1}, size_of_w, 1, 0, 0.5), "w");
    gain = tape.input(Matrix{{1, 1.1, 1.2, 1.3, 1.4}}, "gain");
    h = attend_over_depth(v, w, gain);
    tape.backward(h, dh);
  }
};
}  // namespace

static Matrix transposed(Mat x) {
  Matrix y(Shape{x.cols, x.rows});
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) y(j, i) = x(i, j);
  return y;
}

TEST_CASE("attention residuals: weights, mixture and gradients to ten digits") {
  Fixture f(0.4);
  CHECK(difference(f.tape.find("alpha").value(), transposed(Matrix{{0.1136136549, 0.2509846393, 0.0754151237},
                                                                   {0.7565937910, 0.0296985910, 0.7841015508},
                                                                   {0.0605421520, 0.3139239215, 0.0917787327},
                                                                   {0.0692504020, 0.4053928482, 0.0487045928}})) == "");
  CHECK(difference(f.h.value(), Matrix{{1.1184600554, 0.1979458243, -0.9045588848, -1.1754163268, -0.3656014186},
                                       {1.1594085596, -0.3163767691, -1.5012867553, -1.3059206223, 0.0901029083},
                                       {1.2475422391, 0.3806466014, -0.8362137662, -1.2842630535, -0.5515668121}}) ==
        "");
  CHECK(difference(transposed(f.w.grad()),
                   Matrix{{0.7060212914, 1.0290073029, 0.3658108544, -0.7878612355, -1.3436355442}}) == "");
  CHECK(difference(f.gain.grad(), Matrix{{0.2478367895, 0.0264687626, -0.0976890102, 0.2270147454, 0.0809236368}}) ==
        "");
  Matrix dv(Shape{12, 5});
  for (int x = 0; x < 4; ++x) f.tape.be.copy(f.v[std::size_t(x)].grad(), dv.view().block(3 * x, 0, 3, 5));
  check_fingerprint(fingerprint(dv), -0.169523021688);
  for (const Var x : {f.v[0], f.v[1], f.v[2], f.v[3], f.w, f.gain}) CHECK(gradient_gap(f.tape, f.h, f.dh, x).ok());
}

TEST_CASE("attention residuals: a query of zero takes the mean, and moves while its gain does not") {
  Fixture f(0);
  Matrix mean(Shape{3, 5});
  for (const Var v : f.v) f.tape.be.add_scaled(Real(0.25), v.value(), mean);
  CHECK(difference(f.h.value(), mean, kRounding) == "");
  CHECK(all_zero(f.gain.grad()));
  CHECK(difference(transposed(f.w.grad()),
                   Matrix{{-0.1962427235, 0.0954619078, 0.3480257167, 0.2945994258, -0.0631963895}}) == "");
}

TEST_CASE("attention residuals: two phases give the same, values and gradients") {
  Fixture f(0.4);
  Tape tape;
  std::vector<Var> v;
  for (const Var x : f.v) v.push_back(tape.input(x.value(), "v"));
  const Var w = tape.input(f.w.value(), "w"), gain = tape.input(f.gain.value(), "gain");
  const Var h = attend_in_two_phases({v[0], v[1], v[2]}, v[3], w, gain);
  tape.backward(h, f.dh);
  CHECK(difference(h.value(), f.h.value(), kRounding) == "");
  CHECK(difference(w.grad(), f.w.grad(), kRounding) == "");
  CHECK(difference(gain.grad(), f.gain.grad(), kRounding) == "");
  for (std::size_t i = 0; i < 4; ++i) CHECK(difference(v[i].grad(), f.v[i].grad(), kRounding) == "");
}

// ---- six sub-layers, f_l(u) = tanh(rms_norm(u) W_l), no eps

static constexpr int kLayers = 6;

static Var plain_norm(Var u) { return rms_norm(u, u.tape->constant(Matrix{{1, 1, 1, 1, 1}}, "ones"), 0); }

namespace {
struct Net {
  Tape tape;
  ParamStore store;
  Rng rng{1};
  std::vector<Var> W;
  Var X = tape.input(cosines({3, 5}, 1, 1, 2, 0.2), "X"), out;

  Net() {
    for (int l = 0; l < kLayers; ++l) W.push_back(tape.input(sines({5, 5}, 0.7, 1 + 0.3 * l, 2 + 0.2 * l, l), "W"));
  }
  Var f(int l, Var u) { return tanh(matmul(plain_norm(u), W[std::size_t(l)])); }
  void residual() {
    Var h = X;
    DepthStream x(nullptr, X);
    for (int l = 0; l < kLayers; ++l) h = add(h, f(l, h)), x.write(f(l, x.read()));
    CHECK(bit_difference(x.read().value(), h.value()) == "");
    out = plain_norm(h);
  }
  void attend(int block, double size_of_w) {
    const AttentionResiduals depth(store, "", kLayers, 5, rng, block);
    for (int l = 0; l <= kLayers; ++l) depth.queries[std::size_t(l)].w->set(sines({5, 1}, size_of_w, 1, 0, l));
    DepthStream x(&depth, X);
    for (int l = 0; l < kLayers; ++l) x.write(f(l, x.read()));
    out = plain_norm(x.read());
    CHECK_THROWS_AS(x.write(X), TapeError);
  }
  void back() { tape.backward(out, cosines({3, 5}, 1, 2, 3, 1)); }
};
}  // namespace

TEST_CASE(
    "attention residuals: at the start a pre-norm network computes what the residual network does, and learns the "
    "same") {
  Net plain;
  plain.residual();
  plain.back();
  CHECK(difference(plain.out.value().block(0, 0, 1, 5),
                   Matrix{{1.0931905239, -1.1481203661, 0.9912801404, -0.4634375904, 1.1354925743}}) == "");
  for (const int block : {1, 2, 3, 4, 6, 7}) {  // 4: a shorter last block; 7: one that never ends
    CAPTURE(block);
    Net net;
    net.attend(block, 0);
    net.back();
    CHECK(difference(net.out.value(), plain.out.value(), kRounding) == "");
    for (std::size_t l = 0; l < kLayers; ++l)
      CHECK(difference(net.W[l].grad(), plain.W[l].grad(), kDouble ? Tolerance{1e-11, 1e-11} : Tolerance{1e-4, 1e-5}) ==
            "");
    CHECK(difference(net.X.grad(), plain.X.grad(), kDouble ? Tolerance{1e-11, 1e-11} : Tolerance{1e-4, 1e-5}) == "");
  }
}

TEST_CASE("attention residuals: full and in blocks with queries that choose, to ten digits") {
  Net full, blocks;
  full.attend(1, 0.3);
  blocks.attend(2, 0.3);
  CHECK(difference(full.out.value().block(0, 0, 1, 5),
                   Matrix{{0.5083865465, -0.9904893179, 1.3123194951, -0.3046430591, 1.3948061441}}) == "");
  CHECK(difference(blocks.out.value().block(0, 0, 1, 5),
                   Matrix{{0.4791185255, -0.7311127721, 0.9677240839, -0.8105931269, 1.6255363524}}) == "");
  // In float, differences see six sub-layers through round-off as large as their tolerance: there the digits of double say it.
  const double digits[2][6] = {{32.6493986826, -18.0323583774, 7.49747189658, 0, -14.9838451174, 0.960864938337},
                               {5.76832944998, -3.69611628318, 2.86474188249, 0, 1.08579644217, -1.33740117995}};
  for (int n = 0; n < 2; ++n) {
    Net* net = n == 0 ? &full : &blocks;
    net->back();
    const Matrix dY = cosines({3, 5}, 1, 2, 3, 1);
    const Var x[] = {net->X, net->W[0], net->W[5], net->tape.find("w1"), net->tape.find("w4"), net->tape.find("gain7")};
    for (int k = 0; k < 6; ++k) {
      CAPTURE(n, k, net->tape.node(x[k]).name);
      const Tolerance close = kDouble ? kPrinted : Tolerance{1e-4, 1e-5};
      CHECK(fingerprint(x[k].grad()) == Approx(digits[n][k]).epsilon(close.relative).margin(close.absolute));
      if (kDouble) CHECK(gradient_gap(net->tape, net->out, dY, x[k]).ok());
    }
    CHECK(all_zero(net->tape.find("w1").grad()));  // one source: nothing to choose
    CHECK(!all_zero(net->tape.find("w7").grad()));
  }
}

TEST_CASE("attention residuals: blocks of one are the full version, bit for bit") {
  Net net;
  net.attend(1, 0.3);
  std::vector<Var> sources = {net.X};
  for (int l = 0; l <= kLayers; ++l) {
    const std::string w = "w" + std::to_string(l + 1), gain = "gain" + std::to_string(l + 1);
    const Var h = attend_over_depth(sources, net.tape.find(w.c_str()), net.tape.find(gain.c_str()));
    if (l < kLayers) sources.push_back(net.f(l, h));
    if (l == kLayers) CHECK(bit_difference(plain_norm(h).value(), net.out.value()) == "");
  }
}

TEST_CASE("attention residuals: at the start every read is the residual sum divided by the number of sources") {
  Net plain, full, blocks;
  plain.residual();
  full.attend(1, 0);
  blocks.attend(2, 0);
  std::vector<Mat> sums, means, block_means;
  for (Net* net : {&plain, &full, &blocks})
    for (const Node& n : net->tape.nodes)
      if (n.name == std::string("h")) (net == &plain ? sums : net == &full ? means : block_means).push_back(n.value);
  REQUIRE(means.size() == kLayers + 1);
  REQUIRE(block_means.size() == kLayers + 1);
  REQUIRE(sums.size() == kLayers + 1);
  for (int l = 0; l <= kLayers; ++l) {
    CAPTURE(l);
    const std::size_t at = std::size_t(l);
    Matrix full_sum(sums[at].shape()), block_sum(sums[at].shape());
    full.tape.be.scale(means[at], Real(l + 1), full_sum);
    full.tape.be.scale(block_means[at], Real(1 + (l + 1) / 2), block_sum);
    CHECK(difference(full_sum, sums[at], kDouble ? kRounding : Tolerance{1e-4, 1e-5}) == "");
    CHECK(difference(block_sum, sums[at], kDouble ? kRounding : Tolerance{1e-4, 1e-5}) == "");
  }
}

static int sources_of_last(Net& net) { return net.tape.find("alpha").shape().cols; }

TEST_CASE("attention residuals: what counts as a source") {
  const int want[][2] = {{1, 7}, {2, 4}, {3, 3}, {4, 3}, {6, 2}, {7, 2}};  // block, sources of the output
  for (const auto& [block, sources] : want) {
    CAPTURE(block);
    Net net;
    net.attend(block, 0.3);
    CHECK(sources_of_last(net) == sources);
  }
  // The gradient of a source adds up over all that read it: the embedding is read by all.
  Net net;
  net.attend(1, 0.3);
  int uses = 0;
  for (const Node& n : net.tape.nodes)
    for (int i = 0; i < n.n_in; ++i) uses += n.in[i] == net.X.id;
  CHECK(uses == 2 * (kLayers + 1));  // as a value and as a key
  Rng rng(1);
  ParamStore store;
  CHECK_THROWS_AS(AttentionResiduals(store, "", 6, 5, rng, 0), ShapeError);
  CHECK(store.all.empty());
}

TEST_CASE("attention residuals: tokens do not mix") {
  Fixture f(0.4);
  std::vector<Var> second;
  for (const Var v : f.v) second.push_back(f.tape.rows(v, 1, 1));
  CHECK(bit_difference(attend_over_depth(second, f.w, f.gain).value(), f.h.value().block(1, 0, 1, 5)) == "");
}
