#include "tests/op_trial.h"

namespace glass {
inline namespace GLASS_PRECISION {

Matrix away_from_zero(Shape s, Rng& rng) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(rng.uniform(0.5, 2) * (rng.uniform() < 0.5 ? -1 : 1));
  return m;
}

Table table_of(Mat m) {
  Table t(m.rows, m.cols);
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.cols; ++j) t(i, j) = double(m(i, j));
  return t;
}

Matrix matrix_of(const Table& t) {
  Matrix m(Shape{t.rows, t.cols});
  for (int i = 0; i < t.rows; ++i)
    for (int j = 0; j < t.cols; ++j) m(i, j) = Real(t(i, j));
  return m;
}

std::vector<Matrix> inputs_of(const OpCase& c, const std::vector<Shape>& shapes) {
  Rng rng(5);
  std::vector<Matrix> all;
  for (Shape s : shapes) all.push_back(away_from_zero(s, rng));
  const std::vector<Mat> views(all.begin(), all.end());
  if (c.prepare) c.prepare(views.data());
  return all;
}

Trial::Trial(const OpCase& c, const std::vector<Shape>& shapes, unsigned wanted, Backend& be)
    : tape(be), values(inputs_of(c, shapes)) {
  tape.zero_first = false;  // rules that store their gradients are to show it
  for (std::size_t i = 0; i < values.size(); ++i) {
    x.push_back(wanted >> i & 1 ? tape.input(values[i], "x") : tape.constant(values[i], "x"));
  }
  y = c.build(x.data());
  Rng rng(6);
  seed = away_from_zero(y.shape(), rng);
}

Matrix Trial::reference(const OpCase& c) const {
  std::vector<Table> tables;
  for (const Matrix& m : values) tables.push_back(table_of(m));
  return matrix_of(c.reference(tables.data()));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
