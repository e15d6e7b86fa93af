// tutorials/01_matrix.cpp: shapes, row-major memory, blocks that share it, and the three products that backprop needs.
// Read first: nothing.   Next: 02_tape.   The code behind it: engine/mat.h, engine/cpu/matmul.cpp
#include "engine/ops.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// The numbers as they lie in memory, a bar between the rows; or also brackets around the block of step 3.
static std::string memory(const Page& page, const char* name, Mat M, bool brackets = false) {
  std::string text = "   memory of " + std::string(name) + ": ";
  for (int r = 0; r < M.rows; ++r) {
    if (r > 0) text += " |";
    for (int c = 0; c < M.cols; ++c) {
      const bool opens = brackets && r > 0 && c == 1, closes = brackets && r > 0 && c == M.cols - 2;
      text += (opens ? " [" : " ") + page.measured(M(r, c)) + (closes ? "]" : "");
    }
  }
  return text;
}

// Is every m[r,c] at place r ld + c, counted from m[0,0]?
static bool in_place(Mat m, int ld) {
  bool all = true;
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.cols; ++c) all = all && &m(r, c) == m.data + r * ld + c;
  return all;
}

static Matrix transposed(Mat A) {
  Matrix T(Shape{A.cols, A.rows});
  for (int i = 0; i < T.rows(); ++i)
    for (int j = 0; j < T.cols(); ++j) T(i, j) = A(j, i);
  return T;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "01");
  Tape& tape = page.tape;
  const Matrix numbers = page.matrix("M", {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  const Mat whole = numbers;  // Matrix owns memory; Mat only says where it is
  const Var M = tape.input(numbers, "M"), B = tape.input(page.matrix("B", {{1, 2, 0}, {-1, 3, 2}}), "B");  // copies, for the tape

  page.step("Shape", "rows x columns", "counted from 0: M[1,2] stands in row 1, column 2");
  page.show({M});

  page.step("Memory", "M[r,c] is at place r·ld + c", "row after row; ld, the leading dimension, leads from row to row");
  page.say(memory(page, "M", whole));
  page.say("   ld = " + page.measured(whole.ld) + ": M[1,2] is at place 1·" + page.measured(whole.ld) + " + 2 = " +
           page.measured(1 * whole.ld + 2) + ", counted from 0; there stands " + page.measured(whole.data[1 * whole.ld + 2]));
  page.check("every M[r,c] is at place r ld + c", in_place(whole, whole.cols));

  page.step("A block", "M without its first row and its outer columns", "a start, a shape, and the ld of the whole; nothing is copied");
  const Mat block = whole.block(1, 1, whole.rows - 1, whole.cols - 2);
  page.say(memory(page, "M", whole, true));
  page.show_matrix("block", block);
  page.say("   " + page.measured(block.cols) + " columns, ld = " + page.measured(block.ld));
  page.check("every block[r,c] is at place r ld + c from block[0,0]", in_place(block, whole.ld));

  page.step("Shared memory", "block[0,0] = 100");
  const Matrix copy(block);
  const Real before = block(0, 0);
  block(0, 0) = 100;
  page.say(memory(page, "M", whole, true));
  page.check("who writes into the block writes into M: M[1,1] = 100", whole(1, 1), 100);
  page.check("a copy of the block has memory of its own", copy(0, 0), before);
  block(0, 0) = before;

  page.part("Product", "Three products. A is the block again; B has as many rows as A has columns.");
  const Var A = tape.view(M, 1, 1, block.rows, block.cols).named("A");
  page.step("NN", "P = A B    P_ij = Σ_k A_ik B_kj", "row i of A with column j of B");
  const Var P = matmul(A, B).named("P");
  page.show({A, B, P});
  page.spell(P, 0, 1);
  page.check("formula for P", {{P.value(), by_hand::product(A.value(), B.value())}});

  const Var G = tape.constant(page.random_seed(P), "G");  // any numbers, in the shape of P
  page.step("NT", "R = G Bᵀ    R_ij = Σ_k G_ik B_jk", "row i of G with ROW j of B: B as it lies, read in another order");
  const Var R = matmul_nt(G, B).named("R");
  page.show({G, R});
  page.spell(R, 0, 1);
  page.say(memory(page, "B", B.value()) + "\n" + memory(page, "a transposed copy", transposed(B.value())));
  page.check("G times the transposed copy is the same R", {{R.value(), by_hand::product(G.value(), transposed(B.value()))}});

  page.step("TN", "T = Aᵀ G    T_ij = Σ_k A_ki G_kj", "COLUMN i of A with column j of G");
  const Var T = matmul_tn(A, G).named("T");
  page.show({A, G, T});
  page.check("a transposed copy of A times G is the same T", {{T.value(), by_hand::product(transposed(A.value()), G.value())}});

  page.step("Shapes must fit", "P B?", "the rows of P are as long as the ROWS of B, not its columns; the engine says:");
  std::string message;
  try {
    matmul(P, B);
  } catch (const ShapeError& e) {
    message = e.what();
  }
  page.say(message);
  page.check("it is refused, with a hint", message.find("matmul_nt") < message.size() || B.shape().rows == B.shape().cols);

  page.part("Back", "How much does a result change when a number changes a little? These numbers,\n"
                    "one for each entry of a matrix, are its gradient (lesson 02 finds it).\nWhere do they live? Let G be the gradient of P.");
  page.step("The other two", "dA = G Bᵀ (NT)   dB = Aᵀ G (TN)", "the way back through an NN product takes the other two");
  page.backward(P, G.value());
  page.show_gradient({A, B});
  page.spell_gradient(B, 0, 1);
  page.check("dA is R, dB is T", {{A.grad(), R.value()}, {B.grad(), T.value()}});

  page.step("Into the whole", "dM = dA in the block, 0 elsewhere", "P does not depend on the rest of M");
  page.show_gradient({M});
  Matrix placed(M.shape());
  tape.be.copy(R.value(), placed.view().block(1, 1, block.rows, block.cols));
  page.check("dM is dA in the block, 0 elsewhere", {{M.grad(), placed}});
  page.check("dA is not copied there: it IS that block of dM", &A.grad()(0, 0) == &M.grad()(1, 1));
  return page.done();
} catch (const std::exception& e) {
  return fail("01", e);
}
