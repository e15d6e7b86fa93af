// --spell i,j: the arithmetic behind one entry. Forward entries are written out as the formula that made them;
// a gradient entry as the sum of what each line that uses the value sent back (found by running that line's own
// backward alone), with the products written out where the line is a product.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutorials/page/speller.h"

namespace glass {
inline namespace GLASS_PRECISION {

using Pairs = std::vector<std::pair<double, double>>;

static std::string plain(double x) { return fmt::format("{:.4g}", x == 0 ? 0.0 : x); }
static std::string factor(double x) { return x < 0 ? "(" + plain(x) + ")" : plain(x); }

static std::string sum_of_products(const Pairs& pairs) {
  std::string text;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (k == 6 && pairs.size() > 8) return text + fmt::format(" + … ({} more)", pairs.size() - k);
    text += (k ? " + " : "") + factor(pairs[k].first) + "·" + factor(pairs[k].second);
  }
  return text.empty() ? "0" : text;
}

// The factor of y = s x, from the entry that shows it best.
static std::string scale_of(const Node& y, Mat x) {
  double best = 0, s = 0;
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c)
      if (std::fabs(x(r, c)) > best) best = std::fabs(x(r, c)), s = double(y.value(r, c)) / double(x(r, c));
  return best > 0 ? factor(s) : "s";
}

std::string Speller::place(int id, int r, int c, bool gradient) const {
  const Node& n = tape.nodes[std::size_t(id)];
  const auto found = page.axes_.find(id);
  const Labels none;
  const Labels& rows = found == page.axes_.end() ? none : found->second.rows;
  const Labels& cols = found == page.axes_.end() ? none : found->second.cols;
  const std::string name = (gradient ? "d" : "") + (*n.name ? std::string(n.name) : "%" + std::to_string(id));
  if (n.value.shape() == Shape{1, 1}) return name;
  return fmt::format("{}[{},{}]", name,
                     r < int(rows.size()) ? rows[std::size_t(r)] : std::to_string(r),
                     c < int(cols.size()) ? cols[std::size_t(c)] : std::to_string(c));
}

// A part of a sum: a product or a sum without a name of its own is written out.
std::string Speller::term(int id, int r, int c) const {
  const Node& n = tape.nodes[std::size_t(id)];
  const std::string op = n.op;
  const bool open = !*n.name && (op == "add" || op == "mul_col" || op == "mul_scalar");
  return open ? forward(id, r, c) : factor(n.value(r, c));
}

// What the rule of line `id` computed for entry r,c.
std::string Speller::forward(int id, int r, int c) const {
  const Node& n = tape.nodes[std::size_t(id)];
  const std::string op = n.op;
  const Mat a = tape.nodes[std::size_t(n.in[0])].value;
  const Mat b = n.n_in > 1 ? tape.nodes[std::size_t(n.in[1])].value : Mat{};
  Pairs pairs;
  if (op == "matmul" || op == "matmul_nt") {
    for (int k = 0; k < a.cols; ++k) pairs.push_back({a(r, k), op == "matmul" ? b(k, c) : b(c, k)});
    return sum_of_products(pairs);
  }
  if (op == "matmul_tn") {
    for (int k = 0; k < a.rows; ++k) pairs.push_back({a(k, r), b(k, c)});
    return sum_of_products(pairs);
  }
  if (op == "scale") {
    const Node& in = tape.nodes[std::size_t(n.in[0])];
    const std::string inner = in.rule ? "(" + forward(n.in[0], r, c) + ")" : factor(a(r, c));
    return scale_of(n, a) + "·" + inner;
  }
  if (op == "softmax") {
    double m = -HUGE_VAL;
    for (int k = 0; k < a.cols; ++k) m = std::max(m, double(a(r, k)));
    if (std::isinf(m)) return "0: this row sees no key";
    std::string text = fmt::format("e^({} − {})", plain(a(r, c)), plain(m)) + " / (";
    for (int k = 0; k < a.cols; ++k) {
      if (k == 6 && a.cols > 8) {
        text += " + …";
        break;
      }
      text += (k ? " + " : "") + plain(std::exp(double(a(r, k)) - m));
    }
    return text + ")";
  }
  if (op == "add") return term(n.in[0], r, c) + " + " + term(n.in[1], r, c);
  if (op == "mul_col" || op == "mul_scalar") return factor(b(op == "mul_col" ? r : 0, 0)) + "·" + factor(a(r, c));
  if (op == "sub" || op == "mul" || op == "div") {
    const char* sign = op == "sub" ? " − " : op == "mul" ? "·" : " / ";
    return factor(a(r, c)) + sign + factor(b(r, c));
  }
  if (op == "add_row") return plain(a(r, c)) + " + " + factor(b(0, c));
  if (op == "add_col" || op == "sub_col" || op == "div_col") {
    return plain(a(r, c)) + (op == "add_col" ? " + " : op == "sub_col" ? " − " : " / ") + factor(b(r, 0));
  }
  if (op == "exp") return "e^" + factor(a(r, c));
  if (op == "conv2d_causal") {
    for (int k = std::max(0, b.rows - 1 - r); k < b.rows; ++k)
      for (int l = std::max(0, b.cols / 2 - c); l < std::min(b.cols, a.cols + b.cols / 2 - c); ++l)
        pairs.push_back({b(k, l), a(r - b.rows + 1 + k, c - b.cols / 2 + l)});
    return sum_of_products(pairs);
  }
  return op + " of " + place(n.in[0], std::min(r, a.rows - 1), std::min(c, a.cols - 1), false);
}

// What line `user` sent back into entry r,c of its input number `slot`: its backward, alone.
double Speller::sent(int user, int slot, Mat dx, int r, int c) const {
  Step s = tape.step(user);
  for (int i = 0; i < s.n_in; ++i) s.dx[i] = i == slot ? dx : Mat{};
  tape.be.fill(dx, 0);
  tape.nodes[std::size_t(user)].rule->backward(s);
  return double(dx(r, c));
}

std::string Speller::backward(int user, int slot, int r, int c) const {
  const Node& n = tape.nodes[std::size_t(user)];
  const std::string op = n.op;
  const Mat dy = n.grad, x = tape.nodes[std::size_t(n.in[slot])].value;
  Pairs pairs;
  if (op == "matmul" || op == "matmul_nt") {
    const Mat other = tape.nodes[std::size_t(n.in[1 - slot])].value;
    const bool nt = op == "matmul_nt";
    if (slot == 0) {  // dA = dY Bᵀ, or dY B
      for (int k = 0; k < dy.cols; ++k) pairs.push_back({dy(r, k), nt ? other(k, c) : other(c, k)});
    } else {          // dB = Aᵀ dY, or dYᵀ A
      for (int k = 0; k < dy.rows; ++k) pairs.push_back(nt ? std::pair<double, double>(dy(k, r), other(k, c)) : std::pair<double, double>(other(k, r), dy(k, c)));
    }
    return sum_of_products(pairs);
  }
  if (op == "matmul_tn") {  // dA = B dYᵀ, dB = A dY
    const Mat other = tape.nodes[std::size_t(n.in[1 - slot])].value;
    for (int k = 0; k < other.cols; ++k) pairs.push_back(slot == 0 ? std::pair<double, double>(other(r, k), dy(c, k)) : std::pair<double, double>(other(r, k), dy(k, c)));
    return sum_of_products(pairs);
  }
  if (op == "softmax") {
    const Mat A = n.value;
    double mean = 0;
    for (int k = 0; k < A.cols; ++k) mean += double(A(r, k)) * double(dy(r, k));
    return fmt::format("{}·({} − {})", plain(A(r, c)), plain(dy(r, c)), factor(mean));
  }
  if (op == "mul") return factor(dy(r, c)) + "·" + factor(tape.nodes[std::size_t(n.in[1 - slot])].value(r, c));
  if (op == "exp") return factor(dy(r, c)) + "·" + factor(n.value(r, c));
  if (op == "scale") return scale_of(n, x) + "·" + factor(dy(r, c));
  if (op == "add" || op == "add_row" || op == "add_col") return factor(dy(r, c)) + "·1";
  return "";
}

// One line for each place where the value is used.
std::vector<std::string> Speller::gradient(int id, int r, int c) const {
  std::vector<std::string> parts;
  const Matrix dx(tape.nodes[std::size_t(id)].value.shape());
  for (int user = id + 1; user < int(tape.nodes.size()); ++user) {
    const Node& n = tape.nodes[std::size_t(user)];
    for (int slot = 0; slot < n.n_in; ++slot) {
      if (n.in[slot] != id || !n.reached) continue;
      if (n.view_of == id) {  // a block: what was sent to it is in the same memory
        const int vr = r - n.view_r, vc = c - n.view_c;
        if (vr < 0 || vc < 0 || vr >= n.value.rows || vc >= n.value.cols) continue;
        for (const std::string& part : gradient(user, vr, vc)) parts.push_back(part + ", by way of the view " + label(tape, user));
        continue;
      }
      const std::string how = backward(user, slot, r, c);
      parts.push_back(fmt::format("{}{}   through {}", how.empty() ? "" : how + " = ", plain(sent(user, slot, dx, r, c)), label(tape, user)));
    }
  }
  return parts;
}

// Breaks a long sum before a sign.
static std::string wrapped(const std::string& line, int width) {
  if (display_width(line) <= width) return line + "\n";
  std::size_t at = std::string::npos;
  for (std::size_t i = line.find(" + "); i != std::string::npos && display_width(line.substr(0, i)) <= width; i = line.find(" + ", i + 3)) at = i;
  if (at == std::string::npos) return line + "\n";
  return line.substr(0, at) + "\n" + wrapped("     " + line.substr(at), width);
}

void Page::spell(Var v, int row, int col) {
  if (!shown(name_of(v))) return;
  begin();
  const Speller speller{*this, tape};
  const Mat m = v.value();
  if (!tape.node(v).rule) return put_told(spelled(fmt::format("   {} = {}, given\n", speller.place(v.id, row, col, false), plain(double(m(row, col))))));
  const std::string line = fmt::format("   {} = {} = {}", speller.place(v.id, row, col, false), speller.forward(v.id, row, col),
                                       plain(double(m(row, col))));
  put_told(wrapped(spelled(line), options.width));
}

void Page::spell_gradient(Var v, int row, int col) {
  if (!shown("d" + name_of(v))) return;
  begin();
  const Speller speller{*this, tape};
  const std::string place = "   " + speller.place(v.id, row, col, true), total = plain(double(v.grad()(row, col)));
  const std::vector<std::string> parts = speller.gradient(v.id, row, col);
  if (parts.empty()) return put_told(spelled(place + " = " + total + " was given\n"));
  if (parts.size() == 1) return put_told(wrapped(spelled(place + " = " + parts[0]), options.width));
  put_told(spelled(fmt::format("{} = {}, the sum of\n", place, total)));
  for (const std::string& part : parts) put_told(wrapped(spelled("      " + part), options.width));
}

void Page::spell_by_name() {
  for (int id = int(tape.nodes.size()) - 1; id >= 0 && !spelled_; --id) {
    const Var v = tape.var(id);
    const bool gradient = "d" + name_of(v) == asked() && v.has_grad();
    if (gradient || name_of(v) == asked()) asked_spelling({v}, gradient);
  }
  if (!spelled_) {
    throw InputError("--at " + asked() + ": this lesson has no matrix of that name" + (options.at.empty() ? " (--at NAME chooses another)" : ""));
  }
}

void Page::asked_spelling(std::initializer_list<Var> vars, bool gradient) {
  if (options.spell_row < 0) return;
  for (Var v : vars) {
    const std::string name = (gradient ? "d" : "") + std::string(tape.node(v).name);
    if (name != asked()) continue;
    const Shape s = v.shape();
    if (options.spell_row >= s.rows || options.spell_col >= s.cols) {
      throw InputError(fmt::format("--spell {},{}: {} is {}", options.spell_row, options.spell_col, name, to_text(s.rows, s.cols)));
    }
    spelled_ = true;
    gradient ? spell_gradient(v, options.spell_row, options.spell_col) : spell(v, options.spell_row, options.spell_col);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
