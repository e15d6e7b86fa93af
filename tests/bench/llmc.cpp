// llm.c's side of tests/bench/run: the same GPT step, from a checkout that the user has.
#include <omp.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/bench/turns.h"

extern "C" {
void llmc_build(const char* checkpoint);
void llmc_step(int* ids, int* targets, int B, int T);
float llmc_loss();
}

namespace {

// llm.c prints while it builds a model; standard output is ours, for answers.
struct Quiet {
  int out;
  Quiet() : out((std::fflush(stdout), dup(1))) { dup2(2, 1); }
  ~Quiet() {
    std::fflush(stdout);
    dup2(out, 1);
    close(out);
  }
};

// A file as llm.c reads them: 256 integers, then all parameters, here normal with deviation 0.02, gains 1 and biases 0.
void write_checkpoint(const char* path, int L, int C, int heads, int T, int V) {
  std::ofstream file(path, std::ios::binary);
  std::vector<int> header(256);
  const int start[] = {20240326, 3, T, V, L, heads, C, V};
  std::copy(std::begin(start), std::end(start), header.begin());
  file.write(reinterpret_cast<const char*>(header.data()), std::streamsize(header.size() * sizeof(int)));
  unsigned state = 1;
  const auto put = [&](long n, bool random, float value) {
    for (long i = 0; i < n; ++i) {
      float sum = 0;
      for (int k = 0; k < 12; ++k) sum += float((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;  // 12 uniforms: variance 1
      const float x = random ? 0.02f * (sum - 6) : value;
      file.write(reinterpret_cast<const char*>(&x), sizeof x);
    }
  };
  const long l = L, c = C;
  put(V * c + T * c, true, 0);  // tokens, places
  put(l * c, false, 1);         // norm 1
  put(l * c, false, 0);
  put(3 * l * c * c, true, 0);  // Q, K, V
  put(3 * l * c, false, 0);
  put(l * c * c, true, 0);      // behind the heads
  put(l * c, false, 0);
  put(l * c, false, 1);         // norm 2
  put(l * c, false, 0);
  put(4 * l * c * c, true, 0);  // up
  put(4 * l * c, false, 0);
  put(4 * l * c * c, true, 0);  // down
  put(l * c, false, 0);
  put(c, false, 1);             // the last norm
  put(c, false, 0);
}

// layers, C, heads, T, B, V. The model of llmc_model.c is one for the whole program: the next one takes its place.
struct Step final : bench::Work {
  int T, B;
  std::vector<int> ids, targets;
  explicit Step(const std::vector<int>& s) : T(s[3]), B(s[4]) {
    std::string path = std::filesystem::temp_directory_path() / "llmc_XXXXXX";
    const int file = mkstemp(path.data());
    if (file < 0) throw std::runtime_error(path + ": cannot be written");
    close(file);
    write_checkpoint(path.c_str(), s[0], s[1], s[2], T, s[5]);
    const Quiet quiet;
    llmc_build(path.c_str());
    std::remove(path.c_str());
    for (int i = 0; i < B * T; ++i) {
      ids.push_back(i * 7919 % s[5]);
      targets.push_back((i + 1) * 7919 % s[5]);
    }
    once();  // it takes its memory now
    if (std::fabs(llmc_loss() - std::log(float(s[5]))) > 0.5f) throw std::runtime_error("llm.c: the loss at the start is not ln V");
  }
  void once() override { llmc_step(ids.data(), targets.data(), B, T); }
};

std::unique_ptr<bench::Work> make(const bench::Request& r) {
  if (r.is("gpt", 6)) return std::make_unique<Step>(r.size);
  return nullptr;
}

}  // namespace

int main() { return bench::serve("{\"name\": \"llm.c\", \"version\": \"train_gpt2.c, -Ofast -march=native -fopenmp\"}", make, omp_set_num_threads); }
