#include "layers/attention/less_is_more.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static void require_budget(const TokenBudget& b) {
  if (b.tokens < 1) throw InputError("a token budget must be 1 or more, not " + std::to_string(b.tokens));
  if (!(b.recent_share >= 0 && b.recent_share <= 1))
    throw InputError("the recent share must be from 0 to 1, not " + to_text(b.recent_share));
  if (b.sinks < 0) throw InputError("the number of sinks must not be negative, but it is " + std::to_string(b.sinks));
}

static std::vector<int> range(int from, int to) {
  std::vector<int> all(std::size_t(to - from));
  std::iota(all.begin(), all.end(), from);
  return all;
}

static bool contains(const std::vector<int>& all, int token) {
  return std::find(all.begin(), all.end(), token) != all.end();
}

// Orders tokens by one head's score, best first.
struct ByScore {
  const Real* score;
  bool operator()(int a, int b) const { return score[a] > score[b] || (!std::isnan(score[a]) && std::isnan(score[b])); }
};

TokenChoice choose_tokens(Mat P, const TokenBudget& budget) {
  require_budget(budget);
  const int t = P.cols, K = budget.tokens;
  if (t <= K) return {range(0, t), {}, {}};
  const int k = int(K * (1 - budget.recent_share)), others = K - k;
  const int sinks = budget.sinks <= others ? budget.sinks : 0;
  TokenChoice choice{{}, range(t - (others - sinks), t), range(0, sinks)};
  std::vector<std::vector<int>> ranked;  // of each head: the candidates, best first
  for (int h = 0; h < P.rows; ++h) {
    ranked.push_back(range(sinks, t - (others - sinks)));
    std::stable_sort(ranked.back().begin(), ranked.back().end(), ByScore{P.row(h)});
  }
  for (int rank = 0; rank < k; ++rank) {
    for (const std::vector<int>& head : ranked) {
      const int token = head[std::size_t(rank)];
      if (int(choice.picked.size()) < k && !contains(choice.picked, token)) choice.picked.push_back(token);
    }
  }
  return choice;
}

std::vector<int> TokenChoice::rho() const {
  std::vector<int> all = picked;
  all.insert(all.end(), recent.begin(), recent.end());
  all.insert(all.end(), sinks.begin(), sinks.end());
  std::sort(all.begin(), all.end());
  return all;
}

Matrix attention_recall(Mat A, const std::vector<int>& rho) {
  Matrix recall(Shape{A.rows, 1});
  for (int h = 0; h < A.rows; ++h)
    for (const int j : rho) recall(h, 0) += A(h, j);
  return recall;
}

Var scores_of_heads(Var q, Var K, const Heads& cut) {
  Tape& tape = *q.tape;
  const int d = q.shape().cols / cut.heads, share = cut.heads / cut.groups();
  std::vector<Var> rows;
  for (int h = 0; h < cut.heads; ++h) rows.push_back(matmul_nt(tape.cols(q, h * d, d), tape.cols(K, h / share * d, d)));
  return concat_rows(rows.data(), cut.heads).named("P");
}

static void require_one_query(Var q, const Heads& cut) {
  if (q.shape().rows == 1 && cut.batch == 1 && !cut.mask) return;
  throw ShapeError("LessIsMore writes one token at a time, without a mask: there are " +
                   std::to_string(q.shape().rows) + " queries in " + std::to_string(cut.batch) + " sequences" +
                   (cut.mask ? ", and a mask" : ""));
}

Var LessIsMore::operator()(int layer, Var q, Var K, Var V, const Heads& cut) {
  require_one_query(q, cut);
  const int t = K.shape().rows;
  if (layer == 0) among_ = 0;
  if (sparse(layer)) {
    if (among_ != t) {
      throw ShapeError("LessIsMore: layer " + std::to_string(layer) + " sees " + std::to_string(t) +
                       " tokens, but in this step tokens were chosen among " + std::to_string(among_) +
                       ": a choice holds for the later layers of one step");
    }
    const std::vector<int> rho = chosen.rho();
    return multi_head(q, gather_rows(K, rho.data(), int(rho.size())), gather_rows(V, rho.data(), int(rho.size())), cut);
  }
  const Var Y = multi_head(q, K, V, cut);
  if (chooses(layer)) {
    chosen = choose_tokens(HostView(q.tape->be, scores_of_heads(q, K, cut).value()), budget);
    among_ = t;
  }
  return Y;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
