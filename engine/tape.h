// The tape: a list of everything that was computed, in the order in which it was computed.
//
//   %0 input   "x"             Index order is an order in which every line comes after the lines that it
//   %1 input   "w"             reads, so backward() simply walks the list from the end to the front:
//   %2 mul     "p"  <- %0 %1   no recursion, no sorting. And since each line keeps its rule, replay() can
//   %3 exp     "y"  <- %2      compute the whole list again on the same memory.
//
// Read in this order: Var, Node, Step, Op, Tape. The sweep itself is in tape_backward.cpp, one screen.
#pragma once

#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "engine/arena.h"
#include "engine/cost.h"
#include "engine/errors.h"
#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

class Tape;
struct Param;
struct Op;
struct Profile;

// A handle: line `id` of a tape. Copy it freely. After a rewind it is stale, and using it throws StaleVar.
struct Var {
  Tape* tape = nullptr;
  int id = -1;
  unsigned age = 0;

  Mat value() const;
  Mat grad() const;      // throws TapeError while there is none
  bool has_grad() const;
  Shape shape() const;
  Var named(const char* name) const;  // gives the line a name and returns itself, so it can end an expression
};

// What non-finite numbers a value holds. A mask's -inf is meant; a NaN or an overflow never is.
enum class Finite : unsigned char { yes, meant, no };

// One line of the tape. Plain data: `p node` in a debugger says it all. First what the sweep reads: it shares a cache line.
struct Node {
  Mat value;
  Mat grad;                // grad.data is null until backward() reaches this line
  const int* in = nullptr; // earlier lines
  int n_in = 0;
  int stored_by = -1;      // the first line of the sweep that gives this one a gradient, if it stores it; -1: zeroed first, all add
  bool needs_grad = false;
  bool own_grad = true;    // false: the gradient's memory is a parameter's, another tape's, or (of a view) another line's
  bool reached = false;    // the last backward() found a path from the root to this line
  bool changed = false;    // a leaf that set() changed after other lines had used it
  Finite finite = Finite::yes;
  Op* rule = nullptr;      // null: leaf or view
  const char* op;          // "softmax"
  const char* name = "";   // "A": given by the author, shown by every printer
  int view_of = -1, view_r = 0, view_c = 0;  // a view shares value AND gradient memory: it needs no backward
  Param* param = nullptr;  // the value and the gradient are this parameter's own memory
  const Mat* lent = nullptr;  // the value is another tape's memory, and the gradient is *lent
  unsigned version = 0;    // of the parameter, when its value was last read
  unsigned age = 0;        // of the tape, when the line was recorded
  const char* scope = "";  // "layer 3/head 7"
  Where where;             // the file and line that recorded it

  Node(const char* what, Where at) : op(what), where(at) {}
};

// What an op sees. (Pointers and counts, not std::span: gdb prints `p s.x[0]` only for these.)
struct Step {
  Backend& be;
  Tape& tape;
  int id;
  const Mat* x;  // inputs
  Mat* dx;       // their gradients; dx[i].data is null where input i wants none
  const bool* adds;  // false: dx[i] holds nothing yet, so a rule that stores(i) overwrites it
  int n_in;
  Mat y, dy;
  bool decide;   // false in a replay: keep the choices that the data made the first time

  void give(int i, Real factor, Mat d);  // dx[i] += factor · d, or = if it holds nothing yet
};

// A rule: forward beside backward. The fields of the derived struct are what backward needs: named, and
// visible in a debugger. It lives in the tape's memory and no destructor ever runs.
struct Op {
  virtual const char* name() const = 0;
  virtual void forward(Step&) = 0;   // overwrites y; may be run again
  virtual void backward(Step&) = 0;  // MUST ADD into dx[i], and never change x, y or its own fields
  virtual bool stores(int) const { return false; }        // true: where !adds[i], it overwrites dx[i] (saves zeroing it)
  virtual bool means_minus_inf() const { return false; }  // true for a mask
  virtual const char* hazard() const { return nullptr; }  // how finite inputs can give inf or nan, in plain words
  virtual bool mixes_entries() const { return false; }    // true: y_ij needs more than the entries i, j of its operands
  virtual Cost cost(const Step&, Pass) const;  // 1 FLOP for each entry of the largest matrix, 2 for each gradient; see cost.h

 protected:
  ~Op() = default;
};

class Tape {
 public:
  explicit Tape(Backend& = cpu_backend());
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Leaves. The values (host memory) are copied in.
  Var input(Mat values, const char* name, Where = {});     // wants a gradient
  Var constant(Mat values, const char* name, Where = {});  // wants none
  Var use(Param&, Where = {});                             // a line whose value and gradient ARE the parameter's memory

  Var borrow(Mat value, Mat grad, const char* name, Where = {});  // a leaf that shares both with another tape; no grad: a constant

  Var view(Var, int r0, int c0, int nr, int nc, Where = {});  // a block: free, and a gradient through it needs no code

  Var rows(Var v, int first, int n, Where where = {}) { return view(v, first, 0, n, v.shape().cols, where); }
  Var cols(Var v, int first, int n, Where where = {}) { return view(v, 0, first, v.shape().rows, n, where); }

  Var expose(Mat field, const char* name, Where = {});  // a constant line over memory that an op keeps

  // Records an op: makes T from args, runs its forward, appends the line. Called by the builders in engine/ops.
  template <class T, class... Args>
  Var record(Shape out, std::initializer_list<Var> in, Where where, Args... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an op lives in the arena: no destructor ever runs");
    return append(new (ops_.take(sizeof(T), alignof(T))) T(args...), out, in.begin(), int(in.size()), where);
  }
  template <class T, class... Args>
  Var record_many(Shape out, const Var* in, int n, Where where, Args... args) {  // any number of operands: concatenation
    static_assert(std::is_trivially_destructible_v<T>, "an op lives in the arena: no destructor ever runs");
    return append(new (ops_.take(sizeof(T), alignof(T))) T(args...), out, in, n, where);
  }

  // Memory of the tape for an op's own fields, with the lifetime of the recording.
  Mat scratch(Shape);
  void* raw(std::size_t bytes, std::size_t align) { return ops_.take(bytes, align); }  // host memory
  Ints ints(int n);
  Ints ints(const int* host, int n);
  Keep keep(Keep host);  // a copy of a mask

  // Bytes of values, gradients and scratch that are in use; the most that ever were, with those of inner tapes.
  std::size_t bytes() const { return values_.taken() + grads_.taken(); }
  std::size_t peak_bytes() const { return peak_ > bytes() ? peak_ : bytes(); }
  void note_peak(std::size_t inner_bytes = 0) { peak_ = bytes() + inner_bytes > peak_ ? bytes() + inner_bytes : peak_; }
  void forget_peak() { peak_ = 0; }
  Tape& inner();  // where an op of this tape records lines of its own (recompute); made when first asked for

  void set(Var leaf, Mat values);  // changes an input or a constant; backward() then wants a replay() first

  // From the root down to line 0. The root must be 1 x 1, or the seed (the cotangent dL/droot) must be given.
  void backward(Var root);
  void backward(Var root, Mat seed);
  void clear_gradients();   // the tape's own; parameters keep theirs (ParamStore::zero_grad)

  void replay();            // every forward again, on the same memory, with today's leaves and parameters
  void rerun(int from, int to);  // the forwards of lines from..to only; the bare loop that checkers use

  // Giving lines back. Every Var to a line that went away is stale from then on.
  struct Mark {
    std::size_t nodes;
    Arena::Mark ops, values;
  };
  Mark mark() const { return {nodes.size(), ops_.mark(), values_.mark()}; }
  void rewind() { rewind_to({}); }
  void rewind_to(Mark);

  Var var(int id) { return {this, id, nodes[std::size_t(id)].age}; }
  Var find(const char* name);            // the last line of that name; throws TapeError
  const Node& node(Var v) const {        // checks the handle
    check(v, "this handle");
    return nodes[std::size_t(v.id)];
  }
  const char* intern(const char* text);  // a copy that lives as long as the tape
  Step step(int id);                     // what the op of line `id` sees; valid until the next call

  Backend& be;
  std::vector<Node> nodes;   // public on purpose: printers, tests and students read them
  unsigned age = 1;
  bool recording = true;     // false: what is recorded wants no gradient (see NoGrad)
  bool watch_nonfinite;      // look at every value and gradient for NaN and infinity; on in debug builds
  bool zero_first;           // zero every gradient before the sweep, so that a debugger sees sums grow; on in debug builds
  int first_nonfinite = -1;  // the line where the first one was born
  const char* scope = "";
  Profile* profile = nullptr;  // if set, it times every op: engine/profile.h

 private:
  friend struct Var;
  friend struct Scope;
  Node& push(const char* op, Where);  // filled in where it will stay: a line is wide, and copying it would cost
  Var append(Op*, Shape out, const Var* in, int n, Where);
  Var append_leaf(const char* op, Mat values, const char* name, bool needs_grad, Where);
  void check(Var v, const char* what) const {
    if (v.tape != this || std::size_t(v.id) >= nodes.size() || nodes[std::size_t(v.id)].age != v.age) refuse(v, what);
  }
  Real* carve(Arena&, Shape);
  void make_room(int n_in);
  void inspect(int id);         // nonfinite.cpp
  void inspect_gradients(const Step&);
  void check_before_backward(Var root, Mat seed) const;  // tape_backward.cpp
  void mark_reached(int root);
  void lay_out_gradients(int root, Mat seed);
  [[noreturn]] void refuse(Var, const char* what) const;
  Var last() { return var(int(nodes.size()) - 1); }

  Arena ops_, values_, grads_;
  std::vector<Mat> x_, dx_;  // what `step` points into
  std::unique_ptr<bool[]> adds_;
  struct Gone {
    const char *op, *name;
    unsigned age;
  };
  std::vector<Gone> gone_;   // by id: the last line given back there, so that a stale Var can be named
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;  // look a literal up without making a string
  };
  std::unordered_set<std::string, TextHash, std::equal_to<>> names_;
  int swept_from_ = -1;      // the root of the last backward()
  std::size_t peak_ = 0;
  std::unique_ptr<Tape> inner_;
};

// Everything recorded inside wants no gradient, and leaves no line on the tape. Copy out what you keep.
struct NoGrad {
  explicit NoGrad(Tape& t) : tape(t), start(t.mark()), before(t.recording) { t.recording = false; }
  ~NoGrad() {
    tape.recording = before;
    tape.rewind_to(start);
  }
  Tape& tape;
  Tape::Mark start;
  bool before;
};

// Names the part of a model that records the lines inside: "layer 3", and within it "head 7".
struct Scope {
  Scope(Tape& t, const char* name);
  ~Scope() { tape.scope = before; }
  Tape& tape;
  const char* before;
};

// "%4 softmax "A"": how every message names a line.
std::string label(const Tape&, int id);

}  // namespace GLASS_PRECISION
}  // namespace glass
