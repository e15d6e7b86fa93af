// Taking turns: a program that waits to be told what to run, so that two libraries can be timed one after the other, again and
// again, in one script. A neighbour's noise then hits both.
//
//   asked:     THREADS SECONDS KIND VARIANT SIZE...       2 0.02 product NN 2048 384 384
//   answered:  {"n": 9, "min": 0.00191, "median": 0.00195, ...}      seconds of one piece of work; or {"none": "why"}
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct Request {
  std::string kind, variant;
  std::vector<int> size;
  bool is(const char* k, std::size_t sizes) const { return kind == k && size.size() == sizes; }
};

// What is timed. It is made once, with everything that it needs; the first call warms it up and does not count.
struct Work {
  virtual ~Work() = default;
  virtual void once() = 0;
  virtual void figures(std::map<std::string, double>&) {}  // anything else that was measured
  double per = 1;                                          // pieces of work in one call
};

double now();  // seconds
using Maker = std::unique_ptr<Work> (*)(const Request&);  // empty: there is no such work here

extern long (*heap_calls)();  // set it, and the answer says how many calls of the heap there were for each piece of work

// Answers until the input ends. `about` is the first line: who answers.
int serve(const std::string& about, Maker, void (*use_threads)(int));

// 2 MiB aligned and in huge pages where the system has them: the same memory for all products.
class Buffer {
 public:
  explicit Buffer(std::size_t n);  // numbers between -1 and 1
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* data;
};

// One product of row-major matrices, op(A): M x K, op(B): K x N. NN: A B,  NT: A Bᵀ,  TN: Aᵀ B.
struct ProductWork : Work {
  bool ta, tb;
  int M, K, N;
  Buffer A, B, C;
  explicit ProductWork(const Request&);
  void figures(std::map<std::string, double>&) override;  // "error": the largest of 64 entries against double
};

}  // namespace bench
