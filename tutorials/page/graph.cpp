// The layout: layers by depth, an order with few crossings, and places near the neighbours (after Sugiyama, Tagawa and Toda 1981).
#include "tutorials/page/graph.h"

#include <algorithm>
#include <cstring>


#include "tutorials/page/terminal.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr int kLongest = 40;  // an edge over more layers is drawn without bends: it may pass behind a box
static constexpr int kSweeps = 12;

static std::vector<int> operands(const Tape& tape, int id) {
  const Node& n = tape.nodes[std::size_t(id)];
  std::vector<int> in(n.in, n.in + n.n_in);
  std::sort(in.begin(), in.end());
  in.erase(std::unique(in.begin(), in.end()), in.end());
  return in;
}

static std::vector<int> layers_of(const Tape& tape) {
  const int n = int(tape.nodes.size());
  std::vector<int> layer(std::size_t(n), 0), first_reader(std::size_t(n), -1);
  for (int id = 0; id < n; ++id)
    for (const int from : operands(tape, id)) layer[std::size_t(id)] = std::max(layer[std::size_t(id)], layer[std::size_t(from)] + 1);
  for (int id = 0; id < n; ++id) {
    for (const int from : operands(tape, id)) {
      int& first = first_reader[std::size_t(from)];
      first = first < 0 ? layer[std::size_t(id)] : std::min(first, layer[std::size_t(id)]);
    }
  }
  for (int id = 0; id < n; ++id)
    if (operands(tape, id).empty() && first_reader[std::size_t(id)] > 0) layer[std::size_t(id)] = first_reader[std::size_t(id)] - 1;
  return layer;
}

namespace {
struct Neighbours {
  std::vector<std::vector<int>> above, below;
};
}  // namespace

static Neighbours neighbours(const Drawing& d) {
  Neighbours all{std::vector<std::vector<int>>(d.places.size()), std::vector<std::vector<int>>(d.places.size())};
  for (const Edge& e : d.edges) {
    for (std::size_t k = 1; k < e.through.size(); ++k) {
      const int a = e.through[k - 1], b = e.through[k];
      if (d.places[std::size_t(b)].layer != d.places[std::size_t(a)].layer + 1) continue;
      all.below[std::size_t(a)].push_back(b);
      all.above[std::size_t(b)].push_back(a);
    }
  }
  return all;
}

static double mean_of(const std::vector<int>& of, const std::vector<double>& where, double otherwise) {
  if (of.empty()) return otherwise;
  double sum = 0;
  for (const int p : of) sum += where[std::size_t(p)];
  return sum / double(of.size());
}

static void number(const std::vector<int>& layer, std::vector<double>& rank) {
  for (std::size_t i = 0; i < layer.size(); ++i) rank[std::size_t(layer[i])] = double(i);
}

// Each layer is sorted by the mean place of what its members touch in the layer before, down and up in turn.
static void order(std::vector<std::vector<int>>& layers, const Neighbours& near, std::size_t n) {
  std::vector<double> rank(n);
  for (const auto& layer : layers) number(layer, rank);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (std::size_t k = 0; k < layers.size(); ++k) {
      auto& layer = layers[down ? k : layers.size() - 1 - k];
      std::vector<double> wish(n);
      for (const int p : layer) wish[std::size_t(p)] = mean_of(down ? near.above[std::size_t(p)] : near.below[std::size_t(p)], rank, rank[std::size_t(p)]);
      std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) { return wish[std::size_t(a)] < wish[std::size_t(b)]; });
      number(layer, rank);
    }
  }
}

static double apart(const Drawing& d, int a, int b, double gap) {
  return (d.places[std::size_t(a)].width + d.places[std::size_t(b)].width) / 2 + gap;
}

// Near the wish, in this order, not nearer than half of both widths and the gap: the mean of the leftmost and the rightmost way to do it.
static void settle(const std::vector<int>& layer, const std::vector<double>& wish, double gap, Drawing& d) {
  const std::size_t n = layer.size();
  std::vector<double> left(n), right(n);
  for (std::size_t i = 0; i < n; ++i) left[i] = i ? std::max(wish[i], left[i - 1] + apart(d, layer[i - 1], layer[i], gap)) : wish[i];
  for (std::size_t i = n; i-- > 0;) right[i] = i + 1 < n ? std::min(wish[i], right[i + 1] - apart(d, layer[i], layer[i + 1], gap)) : wish[i];
  for (std::size_t i = 0; i < n; ++i) d.places[std::size_t(layer[i])].x = (left[i] + right[i]) / 2;
}

static void place(const std::vector<std::vector<int>>& layers, const Neighbours& near, double gap, Drawing& d) {
  std::vector<double> x(d.places.size());
  for (const auto& layer : layers) {
    settle(layer, std::vector<double>(layer.size(), 0), gap, d);
    for (const int p : layer) x[std::size_t(p)] = d.places[std::size_t(p)].x;
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const auto& layer = layers[sweep % 2 == 0 ? k : layers.size() - 1 - k];
      std::vector<double> wish;
      for (const int p : layer) {
        const double above = mean_of(near.above[std::size_t(p)], x, x[std::size_t(p)]), below = mean_of(near.below[std::size_t(p)], x, x[std::size_t(p)]);
        wish.push_back(near.above[std::size_t(p)].empty() ? below : near.below[std::size_t(p)].empty() ? above : (above + below) / 2);
      }
      settle(layer, wish, gap, d);
      for (const int p : layer) x[std::size_t(p)] = d.places[std::size_t(p)].x;
    }
  }
  double low = 0, high = 0;
  for (const Place& p : d.places) low = std::min(low, p.x - p.width / 2);
  for (Place& p : d.places) p.x -= low;
  for (const Place& p : d.places) high = std::max(high, p.x + p.width / 2);
  d.width = high;
}

Drawing layout(const Tape& tape, double box, double gap) {
  Drawing d;
  const std::vector<int> layer = layers_of(tape);
  for (const int l : layer) d.places.push_back({l, 0, box}), d.layers = std::max(d.layers, l + 1);
  for (int id = 0; id < int(layer.size()); ++id) {
    for (const int from : operands(tape, id)) {
      Edge e{{from}};
      const int first = layer[std::size_t(from)] + 1, last = layer[std::size_t(id)];
      for (int l = first; l < last && last - first <= kLongest; ++l) {
        e.through.push_back(int(d.places.size()));
        d.places.push_back({l, 0, 0});
      }
      e.through.push_back(id);
      d.edges.push_back(e);
    }
  }
  std::vector<std::vector<int>> layers(std::size_t(d.layers), std::vector<int>{});
  for (std::size_t p = 0; p < d.places.size(); ++p) layers[std::size_t(d.places[p].layer)].push_back(int(p));
  const Neighbours near = neighbours(d);
  order(layers, near, d.places.size());
  place(layers, near, gap, d);
  return d;
}

BoxText box_text(const Tape& tape, int id) {
  const Node& n = tape.nodes[std::size_t(id)];
  const std::string op = n.op, where = to_text(n.where);
  BoxText t;
  t.head = "%" + std::to_string(id) + " " + op + (*n.name ? std::string("  ") + printable(n.name) : "");
  t.shape = to_text(n.value.rows, n.value.cols);
  t.source = printable(where.substr(where.rfind('/') + 1));
  t.kind = n.view_of >= 0 ? "view" : n.param ? "param" : n.rule ? "op" : n.needs_grad ? "input" : "constant";
  return t;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
