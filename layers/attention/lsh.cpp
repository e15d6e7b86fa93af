#include "layers/attention/lsh.h"

#include <algorithm>
#include <cmath>

#include "engine/errors.h"
#include "layers/attention/sparse.h"

namespace glass {
inline namespace GLASS_PRECISION {

// ---- buckets, chunks, candidates: whole numbers, made once

static int bucket_of(Mat q, int token, Mat R) {  // argmax [q R ; -q R]; the first of equals
  int best = 0;
  double largest = -HUGE_VAL;
  for (int side = 0; side < 2; ++side) {
    for (int c = 0; c < R.cols; ++c) {
      double z = 0;
      for (int k = 0; k < R.rows; ++k) z += double(q(token, k)) * double(R(k, c));
      if (side == 1) z = -z;
      if (z > largest) largest = z, best = side * R.cols + c;
    }
  }
  return best;
}

LshRound lsh_round(Mat q, Mat R, const std::vector<bool>& hidden) {
  LshRound round;
  std::vector<std::pair<int, int>> sorted;
  for (int t = 0; t < q.rows; ++t) {
    const bool out = !hidden.empty() && hidden[std::size_t(t)];
    round.bucket.push_back(out ? 2 * R.cols : bucket_of(q, t, R));
    sorted.emplace_back(round.bucket.back(), t);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [bucket, t] : sorted) round.order.push_back(t);
  return round;
}

KeyLists lsh_found(const LshRound& round, int chunk, const Mask* allowed) {
  const int n = int(round.order.size());
  KeyLists found(n, n);
  for (int at = 0; at < n; ++at) {
    const int t = round.order[std::size_t(at)], mine = at / chunk * chunk;  // where its chunk begins
    std::vector<int>& keys = found.of[std::size_t(t)];
    for (int other = std::max(0, mine - chunk); other < std::min(n, mine + chunk); ++other) {
      const int u = round.order[std::size_t(other)];
      if (round.bucket[std::size_t(u)] == round.bucket[std::size_t(t)] && (!allowed || (*allowed)(t, u))) keys.push_back(u);
    }
    std::sort(keys.begin(), keys.end());
  }
  return found;
}

KeyLists lsh_union(const std::vector<KeyLists>& found) {
  KeyLists all = found[0];
  for (std::size_t r = 1; r < found.size(); ++r) all = all | found[r];
  for (int t = 0; t < all.queries(); ++t) {
    std::vector<int>& keys = all.of[std::size_t(t)];
    if (keys.size() > 1) keys.erase(std::remove(keys.begin(), keys.end(), t), keys.end());
  }
  return all;
}

std::vector<LshRound> Lsh::hash(Mat q, const Call& call) const {
  if (rounds < 1) throw InputError("lsh attention: there must be at least one round, not " + std::to_string(rounds));
  if (buckets < 2 || buckets % 2) {
    throw InputError("lsh attention: the number of buckets must be even, one for each of R and -R, not " + std::to_string(buckets));
  }
  if (chunk < 1 || q.rows % chunk) {
    throw ShapeError("lsh attention: " + std::to_string(q.rows) + " tokens cannot be cut into chunks of " + std::to_string(chunk));
  }
  if (rotations && int(rotations->size()) < rounds) {
    throw ShapeError("lsh attention: " + std::to_string(rounds) + " rounds, but " + std::to_string(rotations->size()) + " rotations");
  }
  std::vector<bool> hidden;
  if (call.allowed) hidden = call.allowed->seen(), hidden.flip();
  Rng rng(seed, std::uint64_t(call.head));
  std::vector<LshRound> all;
  for (int r = 0; r < rounds; ++r) {
    Matrix R(Shape{q.cols, buckets / 2});
    for (int i = 0; i < R.rows(); ++i)
      for (int c = 0; c < R.cols(); ++c) R(i, c) = Real(rng.normal());
    if (rotations) {
      if ((*rotations)[std::size_t(r)].shape() != R.shape()) throw ShapeError("lsh attention: R must be " + to_text(R.rows(), R.cols()));
      R = (*rotations)[std::size_t(r)];
    }
    all.push_back(lsh_round(q, R, hidden));
  }
  return all;
}

// ---- attention

Var lsh_one_softmax(Var q, Var k, Var V, const std::vector<KeyLists>& found) { return sparse_attention(q, k, V, lsh_union(found)); }

static int times_found(const std::vector<KeyLists>& found, int t, int u) {
  int n = 0;
  for (const KeyLists& round : found) n += round.has(t, u);
  return n;
}

namespace {
struct Part {  // of one chunk, or of one round
  Var o, z;
};
}  // namespace

// q: the queries of a chunk, k and V: what it looks at. tokens: who they are.
static Part attend_chunk(Var q, Var k, Var V, const int* queries, const int* keys, const std::vector<KeyLists>& found, std::size_t round) {
  const int n = q.shape().rows, m = k.shape().rows;
  Matrix less(Shape{n, m});
  Mask keep(n, m, false);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      if (!found[round].has(queries[i], keys[j])) continue;
      keep.set(i, j, true);
      less(i, j) = Real(-std::log(times_found(found, queries[i], keys[j])) - (queries[i] == keys[j] ? 1e5 : 0));
    }
  }
  const Var E = add(scaled_scores(q, k, default_scale(q)), q.tape->constant(less, "-ln N, -1e5 for itself"));
  const Var hidden = hide_pairs(E, &keep);
  return {matmul(softmax(hidden).named("A"), V).named("o"), log_sum_exp(hidden).named("z")};
}

static Part attend_round(Var q, Var k, Var V, const LshRound& round, const std::vector<KeyLists>& found, std::size_t r, int chunk) {
  const int n = q.shape().rows;
  const int* order = round.order.data();
  const Var qs = gather_rows(q, order, n).named("q sorted"), ks = gather_rows(k, order, n).named("k sorted");
  const Var Vs = gather_rows(V, order, n).named("V sorted");
  std::vector<Var> o, z;
  for (int first = 0; first < n; first += chunk) {
    const int from = std::max(0, first - chunk), keys = first + chunk - from;
    Tape& tape = *q.tape;
    const Part part = attend_chunk(tape.rows(qs, first, chunk), tape.rows(ks, from, keys), tape.rows(Vs, from, keys), order + first, order + from, found, r);
    o.push_back(part.o);
    z.push_back(part.z);
  }
  std::vector<int> back(std::size_t(n), 0);
  for (int at = 0; at < n; ++at) back[std::size_t(order[at])] = at;
  return {gather_rows(concat_rows(o.data(), int(o.size())), back.data(), n).named("o"),
          gather_rows(concat_rows(z.data(), int(z.size())), back.data(), n).named("z")};
}

Var lsh_rounds(Var q, Var k, Var V, const std::vector<LshRound>& rounds, const std::vector<KeyLists>& found, int chunk) {
  std::vector<Var> o, z;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const Scope scope(*q.tape, ("round " + std::to_string(r)).c_str());
    const Part part = attend_round(q, k, V, rounds[r], found, r, chunk);
    o.push_back(part.o);
    z.push_back(part.z);
  }
  const Var W = softmax(concat_cols(z.data(), int(z.size()))).named("W");  // exp(z - Z): how much each round counts
  Var Y = mul_col(o[0], q.tape->cols(W, 0, 1));
  for (std::size_t r = 1; r < o.size(); ++r) Y = add(Y, mul_col(o[r], q.tape->cols(W, int(r), 1)));
  return Y.named("Y");
}

Var Lsh::attend(Var Q, Var K, Var V, const Call& call) const {
  const Mat q = Q.value(), given = K.value();
  if (given.data != q.data || given.ld != q.ld || given.cols != q.cols) {
    throw InputError("lsh attention: queries and keys are shared, so K must be Q itself (the keys are its rows at length 1)");
  }
  const std::vector<LshRound> hashed = hash(HostView(Q.tape->be, q), call);
  std::vector<KeyLists> found;
  for (const LshRound& round : hashed) found.push_back(lsh_found(round, chunk, call.allowed));
  const Var k = unit_rows(Q).named("k");
  if (form == Form::rounds) return lsh_rounds(Q, k, V, hashed, found, chunk);
  const Var Y = lsh_one_softmax(Q, k, V, found);
  if (call.weights) call.weights->push_back(weights_of(Y));
  return Y;
}

LshAttention::LshAttention(ParamStore& store, const std::string& suffix, int C, int h, Rng& rng, Bias bias)
    : qk(store, "_qk" + suffix, C, C, rng, bias), v(store, "_v" + suffix, C, C, rng, bias), o(store, "_o" + suffix, C, C, rng, bias), heads(h) {}

Var LshAttention::operator()(Var X, Heads cut) const {
  cut.heads = heads;
  const Var Q = qk(X).named("Q"), V = v(X).named("V");
  return o(multi_head(Q, Q, V, cut, lsh)).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
