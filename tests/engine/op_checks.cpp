// What every op must pass, derived from its row in tests/op_cases.cpp or op_cases_more.cpp.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <set>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/op_trial.h"

using namespace glass;

static bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

static std::string message_of(Var (*build)(const Var*), const std::vector<Var>& x) {  // of the ShapeError, or ""
  try {
    build(x.data());
  } catch (const ShapeError& e) {
    return e.what();
  }
  return "";
}

// ---- the checks

TEST_CASE("every op agrees with its naive reference") {
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      Trial t(c);
      CHECK(difference(t.y.value(), t.reference(c), kRounding) == "");
      for (std::size_t i = 0; i < t.x.size(); ++i) CHECK(bit_difference(t.x[i].value(), t.values[i]) == "");
    }
  }
}

TEST_CASE("every op's gradient agrees with differences under a random cotangent") {
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      Trial t(c);
      if (c.constant) {
        CHECK_FALSE(t.tape.node(t.y).needs_grad);
        CHECK_THROWS_AS(t.tape.backward(t.y, t.seed), TapeError);
        continue;
      }
      t.tape.backward(t.y, t.seed);
      for (std::size_t i = 0; i < t.x.size(); ++i) {
        if (!c.sends_to(i)) continue;
        const GradGap gap = gradient_gap(t.tape, t.y, t.seed, t.x[i]);
        INFO("input " << i << " [" << gap.row << "," << gap.col << "]: " << gap.taped << " is not " << gap.numeric);
        CHECK(gap.ok());
        CHECK(gap.checked == t.values[i].rows() * t.values[i].cols());
      }
    }
  }
}

TEST_CASE("every op's backward adds, and changes neither its inputs nor its output") {
  for (const OpCase& c : op_cases()) {
    if (c.constant) continue;
    DYNAMIC_SECTION(c.name) {
      Trial t(c);
      t.tape.backward(t.y, t.seed);
      const Matrix y(t.y.value());
      Rng rng(7);
      std::vector<Matrix> want;  // noise + gradient
      for (Var x : t.x) {
        const Matrix noise = away_from_zero(x.shape(), rng);
        want.push_back(noise);
        if (!x.has_grad()) continue;
        t.tape.be.add_scaled(1, x.grad(), want.back());
        t.tape.be.copy(noise, x.grad());
      }
      Step s = t.tape.step(t.y.id);
      const auto adds = std::make_unique<bool[]>(std::size_t(s.n_in));
      std::fill_n(adds.get(), s.n_in, true);
      s.adds = adds.get();
      t.tape.node(t.y).rule->backward(s);
      for (std::size_t i = 0; i < t.x.size(); ++i) {
        if (c.sends_to(i)) CHECK(difference(t.x[i].grad(), want[i], kRounding) == "");
        CHECK(bit_difference(t.x[i].value(), t.values[i]) == "");
      }
      CHECK(bit_difference(t.y.value(), y) == "");
    }
  }
}

TEST_CASE("every op that says it stores a gradient overwrites all of it") {
  for (const OpCase& c : op_cases()) {
    if (c.constant) continue;
    DYNAMIC_SECTION(c.name) {
      Trial t(c);
      t.tape.zero_first = true;
      t.tape.backward(t.y, t.seed);
      Step s = t.tape.step(t.y.id);
      Op& rule = *t.tape.node(t.y).rule;
      const int* in = t.tape.node(t.y).in;
      const auto adds = std::make_unique<bool[]>(std::size_t(s.n_in));
      std::vector<Matrix> want;
      for (Var x : t.x) {
        want.emplace_back(x.has_grad() ? x.grad() : Mat{});
        const int k = int(std::find(in, in + s.n_in, x.id) - in);  // the same line may be read again: that adds
        REQUIRE(k < s.n_in);
        for (int later = k; later < s.n_in; ++later) {
          if (in[later] == x.id) adds[std::size_t(later)] = later > k || !rule.stores(k);
        }
        if (x.has_grad()) t.tape.be.fill(x.grad(), rule.stores(k) ? std::numeric_limits<Real>::quiet_NaN() : Real(0));
      }
      s.adds = adds.get();
      rule.backward(s);
      for (std::size_t i = 0; i < t.x.size(); ++i) {
        if (t.x[i].has_grad()) CHECK(difference(t.x[i].grad(), want[i], kRounding) == "");
      }
    }
  }
}

TEST_CASE("every op computes the same gradients when other inputs are constants") {
  for (const OpCase& c : op_cases()) {
    if (c.constant) continue;
    DYNAMIC_SECTION(c.name) {
      Trial all(c);
      all.tape.backward(all.y, all.seed);
      for (unsigned wanted = 0; wanted < 1u << c.shapes.size(); ++wanted) {
        if (wanted & c.targets) {
          CHECK_THROWS_AS(Trial(c, Sizes().shapes(c), wanted), TapeError);
          continue;
        }
        Trial t(c, Sizes().shapes(c), wanted);
        CHECK(bit_difference(t.y.value(), all.y.value()) == "");
        if (wanted == 0) {
          CHECK_THROWS_AS(t.tape.backward(t.y, t.seed), TapeError);
          continue;
        }
        t.tape.backward(t.y, t.seed);
        for (std::size_t i = 0; i < t.x.size(); ++i) {
          INFO("input " << i << " of those wanted: " << wanted);
          REQUIRE(t.x[i].has_grad() == bool(wanted >> i & 1));
          if (t.x[i].has_grad()) CHECK(bit_difference(t.x[i].grad(), all.x[i].grad()) == "");
        }
      }
    }
  }
}

TEST_CASE("every op takes blocks of wider matrices") {
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      Trial whole(c);
      Tape tape;
      Rng rng(8);
      std::vector<Var> parents, blocks;
      for (std::size_t i = 0; i < whole.values.size(); ++i) {
        const Matrix& value = whole.values[i];
        const Matrix wide = away_from_zero({value.rows() + 2, value.cols() + 3}, rng);
        tape.be.copy(value, wide.view().block(1, 2, value.rows(), value.cols()));
        parents.push_back(c.sends_to(i) ? tape.input(wide, "wide") : tape.constant(wide, "wide"));
        blocks.push_back(tape.view(parents.back(), 1, 2, value.rows(), value.cols()));
      }
      const Var y = c.build(blocks.data());
      CHECK(bit_difference(y.value(), whole.y.value()) == "");
      if (c.constant) continue;

      whole.tape.backward(whole.y, whole.seed);
      tape.backward(y, whole.seed);
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!c.sends_to(i)) continue;
        CHECK(bit_difference(blocks[i].grad(), whole.x[i].grad()) == "");
        const Matrix outside(parents[i].grad());
        const Mat inside = outside.view().block(1, 2, blocks[i].shape().rows, blocks[i].shape().cols);
        tape.be.fill(inside, 0);
        CHECK(bit_difference(outside, Matrix(outside.shape())) == "");
      }
    }
  }
}

TEST_CASE("every op gives the same bits in a replay") {
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      Trial t(c);
      const Matrix y(t.y.value());
      std::vector<Matrix> gradients;
      if (!c.constant) {
        t.tape.backward(t.y, t.seed);
        for (Var x : t.x) gradients.emplace_back(x.has_grad() ? x.grad() : Mat{});
        t.tape.be.fill(t.y.value(), std::numeric_limits<Real>::quiet_NaN());  // must be overwritten, not read
      }
      t.tape.replay();
      CHECK(bit_difference(t.y.value(), y) == "");
      if (c.constant) continue;
      t.tape.backward(t.y, t.seed);
      for (std::size_t i = 0; i < t.x.size(); ++i) {
        if (c.sends_to(i)) CHECK(bit_difference(t.x[i].grad(), gradients[i]) == "");
      }
    }
  }
}

TEST_CASE("every op works on one row, one column, one entry and nothing") {
  std::vector<Sizes> all = {{1, 1, 1, 1}};
  for (char letter : {'R', 'C', 'K', 'M'}) {
    for (int size : {0, 1}) {
      all.emplace_back();
      all.back().of(letter) = size;
    }
  }
  all.push_back({0, 0, 0, 0});
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      for (Sizes sizes : all) {
        INFO("R C K M = " << sizes.R << " " << sizes.C << " " << sizes.K << " " << sizes.M);
        bool refused = false;
        for (const char* letter = c.never_zero; *letter; ++letter) refused = refused || sizes.of(*letter) == 0;
        if (refused) {
          CHECK_THROWS_AS(Trial(c, sizes.shapes(c)), ShapeError);
          continue;
        }
        Trial t(c, sizes.shapes(c));
        CHECK(difference(t.y.value(), t.reference(c), kRounding) == "");
        if (c.constant) continue;
        t.tape.backward(t.y, t.seed);
        for (std::size_t i = 0; i < t.x.size(); ++i) {
          if (!c.sends_to(i)) continue;
          const Var x = t.x[i];
          CHECK(x.grad().shape() == x.shape());
          CHECK(gradient_gap(t.tape, t.y, t.seed, x).ok());
        }
      }
    }
  }
}

// One size of one input too large by one: refused, unless no other input depends on it.
TEST_CASE("every op refuses a wrong shape by name and records nothing") {
  for (const OpCase& c : op_cases()) {
    if (c.op() == "weights_of") continue;  // takes one line, of any shape: see ops_test.cpp
    std::string letters;
    for (const std::string& s : c.shapes) letters += s;
    std::replace(letters.begin(), letters.end(), 'T', 'K');  // a multiple of K depends on K
    for (std::size_t bad = 0; bad <= letters.size(); ++bad) {
      const bool last = bad == letters.size();  // the row's own wrong case
      if (last ? !c.wrong : letters[bad] != '1' && letters.find(letters[bad]) == letters.rfind(letters[bad])) continue;
      DYNAMIC_SECTION(c.name << ", size " << bad) {
        std::vector<Shape> shapes = Sizes().shapes(c);
        if (!last) ++(bad % 2 == 0 ? shapes[bad / 2].rows : shapes[bad / 2].cols);
        Tape tape;
        std::vector<Var> x;
        for (const Matrix& value : inputs_of(c, shapes)) {
          x.push_back(c.sends_to(x.size()) ? tape.input(value, "x") : tape.constant(value, "x"));
        }

        const std::string message = message_of(last ? c.wrong : c.build, x);
        INFO(message);
        CHECK(message.rfind(c.op() + ": ", 0) == 0);
        std::size_t named = 0;
        for (Shape s : shapes) named += contains(message, to_text(s.rows, s.cols));
        const Shape guilty = shapes[last ? 0 : bad / 2];  // a mask is compared with the first operand
        CHECK(contains(message, to_text(guilty.rows, guilty.cols)));
        if (!last) CHECK(named >= 2);  // and what it does not fit
        CHECK(contains(message, "at tests/op_cases"));
        CHECK(tape.nodes.size() == x.size());
      }
    }
  }
}

TEST_CASE("every op of several operands refuses one from another tape") {
  for (const OpCase& c : op_cases()) {
    for (std::size_t strange = 0; c.shapes.size() > 1 && strange < c.shapes.size(); ++strange) {
      DYNAMIC_SECTION(c.name << ", operand " << strange) {
        Trial t(c), other(c);
        const std::size_t before = t.tape.nodes.size(), before_other = other.tape.nodes.size();
        t.x[strange] = other.x[strange];
        CHECK_THROWS_AS(c.build(t.x.data()), TapeError);
        CHECK(t.tape.nodes.size() == before);
        CHECK(other.tape.nodes.size() == before_other);
      }
    }
  }
}

// ---- the catalogue

TEST_CASE("every op of the catalogue has a row and a file, and every row an op") {
  const std::filesystem::path engine = std::filesystem::path(GLASS_SOURCE_DIR) / "engine";
  std::ifstream catalogue(engine / "ops.h");
  std::set<std::string> ops, rows;
  for (std::string line; std::getline(catalogue, line);) {
    if (line.rfind("Var ", 0) == 0) ops.insert(line.substr(4, line.find('(') - 4));
  }
  REQUIRE(ops.size() > 20);
  for (const OpCase& c : op_cases()) rows.insert(c.op());
  for (const std::string& op : ops) {
    INFO(op << " is in engine/ops.h");
    CHECK(rows.count(op) == 1);
    CHECK(std::filesystem::exists(engine / "ops" / ((op == "weights_of" ? "attention" : op) + ".cpp")));
  }
  for (const std::string& row : rows) {
    INFO(row << " has a row in tests/op_cases*.cpp");
    CHECK(ops.count(row) == 1);
  }
}
