// The memory of a tape: taken once, used again in every step, unreadable after a rewind.
//
// This file replaces the global operator new and delete by versions that count. Under a sanitizer, which brings
// its own, it leaves them alone and tests less.
#include <cmath>
#include <cstdlib>
#include <new>

#include "engine/ops.h"
#include "layers/attention/self_attention.h"
#include "layers/embedding.h"
#include "layers/encoder.h"
#include "layers/optim/adamw.h"
#include "layers/optim/clip.h"
#include "layers/optim/schedule.h"
#include "layers/optim/sgd.h"
#include "tests/catch.h"
#include "tests/compare.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

using namespace glass;

#ifndef SANITIZED

static long heap_calls = 0;
static std::size_t largest_call = 0;

static void* counted(std::size_t bytes, std::size_t align) {
  ++heap_calls;
  if (bytes > largest_call) largest_call = bytes;
  return std::aligned_alloc(align, (bytes + align - 1) / align * align + (bytes ? 0 : align));
}

static void* counted_or_throw(std::size_t bytes, std::size_t align) {
  if (void* p = counted(bytes, align)) return p;
  throw std::bad_alloc();
}

static constexpr std::size_t kAlign = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* operator new(std::size_t n) { return counted_or_throw(n, kAlign); }
void* operator new[](std::size_t n) { return counted_or_throw(n, kAlign); }
void* operator new(std::size_t n, std::align_val_t a) { return counted_or_throw(n, std::size_t(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return counted_or_throw(n, std::size_t(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return counted(n, kAlign); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return counted(n, kAlign); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, std::size_t(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, std::size_t(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

TEST_CASE("the heap is counted") {
  const long before = heap_calls;
  ::operator delete(::operator new(1));
  ::operator delete(::operator new(64, std::align_val_t(64)), std::align_val_t(64));
  const Matrix m(Shape{2, 2});
  const long calls = heap_calls - before;
  CHECK(calls == 3);
}

struct Model {
  ParamStore store;
  Rng rng{11};
  Embedding words{store, "words", 7, 4, rng};
  SelfAttention attend{store, 4, 4, 4, rng, Bias::yes};
};

// One step of training towards a target: mean square error, plain gradient descent.
static double step(Tape& tape, Model& model, const std::vector<int>& ids, const Matrix& target, const Mask& mask) {
  tape.rewind();
  const Scope scope(tape, "training");
  const Var Y = model.attend(model.words(tape, ids), &mask);
  const Var gap = sub(Y, tape.constant(target, "target"));
  const Var loss = scale(sum(mul(gap, gap)), 1.0 / double(ids.size())).named("loss");
  model.store.zero_grad();
  tape.backward(loss);
  for (Param& p : model.store.all) {
    tape.be.add_scaled(Real(-0.05), p.grad, p.value);
    p.changed();
  }
  return double(loss.value()(0, 0));
}

TEST_CASE("after the first training step the heap is not called again") {
  for (SelfAttention::Form form : {SelfAttention::Form::steps, SelfAttention::Form::fused}) {
    Tape tape;
    Model model;
    model.attend.form = form;
    const std::vector<int> ids = {3, 1, 4, 1, 5};
    const Matrix target = sines({5, 4}, 1, 0.7, 1.3);
    const Mask mask = Mask::causal(5, 5) & Mask::visible({true, true, true, true, false}, 5);
    const double first = step(tape, model, ids, target, mask);
    double last = first;
    const long before = heap_calls;
    for (int i = 0; i < 20; ++i) last = step(tape, model, ids, target, mask);
    const long calls = heap_calls - before;  // CHECK makes some of its own
    CHECK(calls == 0);
    CHECK(last < 0.9 * first);  // it did learn
  }
}

TEST_CASE("clipping, a schedule and an optimiser's step make no heap call") {
  Model model;
  AdamW adam(model.store, 0.1);
  Sgd sgd(model.store, 0.1, 0.9, true);
  const WarmupCosine cosine{0.1, 3, 10};
  const Noam noam{64, 5};
  for (Param& p : model.store.all) p.grad.home()->fill(p.grad, 1);
  const long before = heap_calls;
  for (long t = 1; t <= 5; ++t) {
    clip_by_norm(model.store, 0.5);
    adam.rate = cosine(t);
    adam.step();
    sgd.rate = noam(t);
    sgd.step();
    model.store.zero_grad();
    model.store.all[0].grad.home()->fill(model.store.all[0].grad, 2);
  }
  const long calls = heap_calls - before;
  CHECK(calls == 0);
}

// A whole transformer: embedding, blocks with dropout and masks, cross-entropy, clipping, AdamW.
struct Transformer {
  ParamStore store;
  Rng rng{12};
  Embedding words{store, "words", 7, 8, rng};
  Encoder encoder{store, "", 11, {.C = 8, .heads = 2, .activation = Activation::gelu, .dropout = 0.1}, rng};  // from layer 10 on names are longer
  AdamW adam{store, 0.01};
};

static double step(Tape& tape, Transformer& model, const std::vector<int>& ids, const std::vector<int>& next, const Mask& mask) {
  tape.rewind();
  const Var Y = model.encoder(model.words(tape, ids), {.batch = 12, .mask = &mask});
  const Var loss = cross_entropy(matmul_nt(Y, tape.use(*model.words.table)), next.data(), int(next.size()));
  model.store.zero_grad();
  tape.backward(loss);
  clip_by_norm(model.store, 1);
  model.adam.step();
  return double(loss.value()(0, 0));
}

TEST_CASE("a training step of a transformer calls the heap only the first time") {
  std::vector<int> ids(60), next(60);
  for (std::size_t i = 0; i < 60; ++i) ids[i] = int(i * i % 7), next[i] = int((i + 1) * (i + 1) % 7);
  const Mask mask = Mask::causal(5, 5);
  for (const Variant* variant : {static_cast<const Variant*>(&plain_attention), static_cast<const Variant*>(&fused_attention)}) {
    for (bool zero_first : {false, true}) {
      Transformer model;
      for (EncoderBlock& block : model.encoder.blocks) block.attention.variant = variant;
      Tape tape;
      tape.zero_first = zero_first;
      const double first = step(tape, model, ids, next, mask);
      double last = first;
      const long before = heap_calls;
      for (int i = 0; i < 10; ++i) last = step(tape, model, ids, next, mask);
      const long calls = heap_calls - before;
      CHECK(calls == 0);
      CHECK(last < 0.9 * first);
    }
  }
}

TEST_CASE("a replay and a second sweep make no heap call") {
  Tape tape;
  const Var x = tape.input(sines({4, 4}, 1, 0.3, 0.8), "x");
  const Var loss = sum(softmax(matmul_nt(x, x)));
  tape.backward(loss);
  const long before = heap_calls;
  tape.replay();
  tape.backward(loss);
  const long calls = heap_calls - before;
  CHECK(calls == 0);
}

// ---- absurd sizes

static bool refused_at_once(Shape s, bool on_tape) {  // ShapeError, and nothing large was asked of the heap before
  Tape tape;
  largest_call = 0;
  try {
    if (on_tape) {
      tape.scratch(s);
    } else {
      const Matrix m(s);
    }
  } catch (const ShapeError&) {
    return largest_call < 1000;
  }
  return false;
}

TEST_CASE("O03 absurd sizes are refused before anything is allocated") {
  const int most = 2147483647;
  for (bool on_tape : {false, true}) {
    CHECK(refused_at_once({most, most}, on_tape));
    CHECK(refused_at_once({-1, 3}, on_tape));
    CHECK(refused_at_once({3, -1}, on_tape));
    CHECK(refused_at_once({-2, -2}, on_tape));
  }
}

#endif

TEST_CASE("O03 the number of entries is counted in 64 bits") {
  CHECK(count({70000, 70000}) == 4900000000);
  CHECK(count({0, 2147483647}) == 0);
  CHECK_THROWS_AS(count({2147483647, 2147483647}), ShapeError);
}

// ---- arenas

TEST_CASE("blocks of an arena grow, so that a large model has few of them") {
  Arena arena(cpu_backend());
  for (int i = 0; i < 200; ++i) arena.take(1 << 20, 64);
  CHECK(arena.blocks() <= 10);
  CHECK(arena.taken() == std::size_t(200) << 20);
}

TEST_CASE("an arena that is asked for nothing still gives memory") {  // null would mean "no gradient wanted"
  Arena arena(cpu_backend());
  CHECK(arena.take(0, 16) != nullptr);
}

TEST_CASE("an arena keeps its blocks and gives the same memory again") {
  Arena arena(cpu_backend());
  CHECK(arena.blocks() == 0);
  void* first = arena.take(1000, 64);
  arena.take(3 << 20, 64);  // more than a block: gets one of its own
  const Arena::Mark middle = arena.mark();
  void* second = arena.take(1 << 19, 64);
  const std::size_t blocks = arena.blocks();
  CHECK(blocks == 3);
  arena.rewind(middle);
  CHECK(arena.take(1 << 19, 64) == second);
  for (int i = 0; i < 5; ++i) {
    arena.rewind({});
    CHECK(arena.take(1000, 64) == first);
    arena.take(3 << 20, 64);
    CHECK(arena.take(1 << 19, 64) == second);
    CHECK(arena.blocks() == blocks);
  }
}

TEST_CASE("what an arena hands out is aligned and does not overlap") {
  Arena arena(cpu_backend());
  char* a = static_cast<char*>(arena.take(3, 1));
  char* b = static_cast<char*>(arena.take(8, 8));
  char* c = static_cast<char*>(arena.take(100, 64));
  char* d = static_cast<char*>(arena.take(1, 64));
  CHECK(reinterpret_cast<std::uintptr_t>(b) % 8 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(c) % 64 == 0);
  CHECK(b >= a + 3);
  CHECK(c >= b + 8);
  CHECK(d >= c + 100);
}

#ifndef NDEBUG
TEST_CASE("in debug builds memory that was given back reads as NaN") {
  Tape tape;
  const Var kept = tape.input(Matrix{{1, 2}}, "kept");
  const Tape::Mark mark = tape.mark();
  const Mat gone = exp(kept).value();
  tape.backward(tape.var(1), Matrix{{1, 1}});
  const Mat gradient = kept.grad();
  CHECK(gradient(0, 0) > 0);
  tape.rewind_to(mark);
  for (int j = 0; j < 2; ++j) {
    CHECK(std::isnan(gone(0, j)));
    CHECK(std::isnan(gradient(0, j)));
  }
  CHECK(kept.value()(0, 1) == 2);
}
#endif
