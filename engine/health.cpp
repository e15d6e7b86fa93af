#include "engine/health.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/ops.h"
#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

double row_entropy(Mat A, int row) {
  double sum = 0;
  for (int j = 0; j < A.cols; ++j) {
    const double a = double(A(row, j));
    if (a > 0) sum -= a * std::log(a);
  }
  return sum;
}

static HeadHealth look(Mat A, int line) {
  HeadHealth h;
  h.line = line;
  int rows = 0;
  for (int i = 0; i < A.rows; ++i) {
    double most = 0;
    int seen = 0;
    for (int j = 0; j < A.cols; ++j) {
      most = std::fmax(most, double(A(i, j)));
      seen += A(i, j) > 0;
    }
    if (seen == 0) continue;  // a query that sees nothing
    ++rows;
    h.entropy += row_entropy(A, i);
    h.even += std::log(double(seen));
    h.saturated += most > 0.99;
  }
  if (rows > 0) h.entropy /= rows, h.even /= rows, h.saturated /= rows;
  h.largest_score = std::numeric_limits<double>::quiet_NaN();
  return h;
}

static double largest(Mat E) {
  double most = 0;
  for (int i = 0; i < E.rows; ++i)
    for (int j = 0; j < E.cols; ++j)
      if (std::isfinite(E(i, j))) most = std::fmax(most, std::fabs(double(E(i, j))));
  return most;
}

std::vector<HeadHealth> head_health(const Tape& tape) {
  std::vector<HeadHealth> all;
  for (int id = 0; id < int(tape.nodes.size()); ++id) {
    const Node& n = tape.nodes[std::size_t(id)];
    if (std::strcmp(n.op, "softmax") == 0) {
      all.push_back(look(HostView(tape.be, n.value), id));
      all.back().largest_score = largest(HostView(tape.be, tape.nodes[std::size_t(n.in[0])].value));
    } else if (std::strcmp(n.op, "attention") == 0) {
      all.push_back(look(HostView(tape.be, kept_weights(n)), id));
    }
  }
  return all;
}

std::vector<LayerGradient> layer_gradients(const Tape& tape) {
  std::vector<LayerGradient> all;
  std::vector<const Param*> seen;
  for (const Node& n : tape.nodes) {
    if (!n.param || !n.grad.data) continue;
    bool again = false;  // a parameter that is used twice has one gradient
    for (const Param* p : seen) again = again || p == n.param;
    if (again) continue;
    seen.push_back(n.param);
    std::string layer(n.scope, std::strcspn(n.scope, "/"));
    if (layer.empty()) layer = n.param->name;
    if (all.empty() || all.back().layer != layer) all.push_back({layer, 0, 0});
    const HostView g(tape.be, n.grad);
    for (int i = 0; i < n.grad.rows; ++i)
      for (int j = 0; j < n.grad.cols; ++j) all.back().norm += double(g(i, j)) * double(g(i, j));
    all.back().entries += long(count(n.grad.shape()));
  }
  for (LayerGradient& l : all) l.norm = std::sqrt(l.norm);
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
