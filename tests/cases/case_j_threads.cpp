// Theme J: threads. Each test is named after its case.
#include <exception>
#include <thread>
#include <vector>

#include "engine/cpu/fast.h"
#include "engine/cpu/threads.h"
#include "engine/ops.h"
#include "layers/embedding.h"
#include "layers/encoder.h"
#include "layers/optim/adamw.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Threads {  // back to the default at the end of a test, however it ends
  explicit Threads(int n) { set_threads(n); }
  ~Threads() { set_threads(0); }
};

// The weights after five steps of training with dropout.
std::vector<Matrix> trained(Backend& be) {
  ParamStore store;
  Rng rng(4);
  const Embedding words(store, "words", 11, 48, rng);
  Encoder encoder(store, "", 2, {.C = 48, .heads = 3, .activation = Activation::gelu, .dropout = 0.1}, rng);
  encoder.blocks[0].attention.variant = &fused_attention;
  AdamW adam(store, 0.01);
  const Mask causal = Mask::causal(64, 64);
  std::vector<int> ids(128), next(128);
  for (int i = 0; i < 128; ++i) ids[std::size_t(i)] = i * i % 11, next[std::size_t(i)] = (i + 1) * (i + 1) % 11;
  Tape tape(be);
  for (int step = 0; step < 5; ++step) {
    tape.rewind();
    const Var Y = encoder(words(tape, ids), {.batch = 2, .mask = &causal});
    store.zero_grad();
    tape.backward(cross_entropy(matmul_nt(Y, tape.use(*words.table)), next.data(), 128));
    adam.step();
  }
  std::vector<Matrix> weights;
  for (const Param& p : store.all) weights.push_back(p.value);
  return weights;
}

struct Attended {
  Matrix Y, dQ;
};

Attended attend(Backend& be) {
  Tape tape(be);
  const Var Q = tape.input(sines({96, 32}, 1, 0.3, 0.7), "Q"), K = tape.input(sines({96, 32}, 1, 0.5, 1.3), "K");
  const Var V = tape.input(sines({96, 32}, 1, 1.1, 0.2), "V");
  const Var Y = add(attention(Q, K, V, 0.2), flash_attention(Q, K, V, 0.2, {.causal = true}));
  tape.backward(Y, sines({96, 32}, 1, 0.9, 0.4));
  return {Matrix(Y.value()), Matrix(Q.grad())};
}

}  // namespace

TEST_CASE("J05 the weights after training with dropout do not depend on the number of threads") {
  for (int bytes : {16, 32, 64}) {
    Backend* be = fast_cpu(bytes);
    if (!be) continue;
    std::vector<Matrix> one;
    for (int n : {1, 2, 3, 8}) {
      CAPTURE(bytes, n);
      const Threads with(n);
      const std::vector<Matrix> weights = trained(*be);
      if (n == 1) one = weights;
      for (std::size_t i = 0; i < weights.size(); ++i) CHECK(bit_difference(weights[i], one[i]) == "");
    }
  }
}

TEST_CASE("J06 a number of threads that makes no sense is refused by name, and 0 is the default") {
  const Threads restore(0);
  const int usual = threads();
  CHECK(usual >= 1);
  set_threads(3);
  CHECK((threads() == 3 || usual == 1));  // without OpenMP it is always one
  for (int bad : {-1, 1025, 1000000}) {
    CHECK_THROWS_WITH(set_threads(bad), ContainsSubstring("set_threads: the number of threads is from 1 to 1024") && ContainsSubstring(std::to_string(bad)));
  }
  CHECK((threads() == 3 || usual == 1));  // a refusal changes nothing
  set_threads(0);
  CHECK(threads() == usual);
  for (const char* bad : {"-1", "1000000", "99999999999999999999", "abc", "", " 2", "2 ", "2x", "0x2", "1.5"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH(parse_threads(bad, "GLASS_THREADS"), ContainsSubstring("GLASS_THREADS: the number of threads is from 1 to 1024"));
  }
  CHECK(parse_threads("0", "--threads") == 0);
  CHECK(parse_threads("1024", "--threads") == 1024);
}

TEST_CASE("J13 attention from four threads at once gives each the same as alone") {
  Backend& be = fast_cpu();
  const Attended alone = attend(be);
  std::vector<Attended> all(4);
  std::vector<std::thread> at_once;
  for (Attended& mine : all)
    at_once.emplace_back([&mine, &be] {
      for (int i = 0; i < 5; ++i) mine = attend(be);
    });
  for (std::thread& t : at_once) t.join();
  for (const Attended& mine : all) {
    CHECK(bit_difference(mine.Y, alone.Y) == "");
    CHECK(bit_difference(mine.dQ, alone.dQ) == "");
  }
}

TEST_CASE("J13 an error beside running kernels reaches the one who made it, and nobody else") {
  Backend& be = fast_cpu();
  const Attended alone = attend(be);
  std::vector<int> caught(4, 0);
  std::vector<Attended> all(4);
  std::vector<std::thread> at_once;
  for (std::size_t k = 0; k < 4; ++k)
    at_once.emplace_back([&, k] {
      for (int i = 0; i < 5; ++i) {
        Tape tape(be);
        const Var Q = tape.input(sines({96, 32}, 1, 0.3, 0.7), "Q"), K = tape.input(sines({96, 31}, 1, 0.5, 1.3), "K");
        try {
          attention(Q, K, K, 1);
        } catch (const ShapeError&) {
          ++caught[k];
        }
        all[k] = attend(be);
      }
    });
  for (std::thread& t : at_once) t.join();
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(caught[k] == 5);
    CHECK(bit_difference(all[k].Y, alone.Y) == "");
  }
}
