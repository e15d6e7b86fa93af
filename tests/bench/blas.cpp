// The rivals of products: `bench_blas openblas LIBRARY` and `bench_blas onednn LIBRARY`, loaded when the program runs, so that
// neither is needed to build.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/bench/turns.h"

using Cblas = void (*)(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
using Dnnl = int (*)(char ta, char tb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                     float beta, float* c, std::int64_t ldc);

static Cblas cblas;
static Dnnl dnnl;
static void (*set_threads)(int);

namespace {
struct SgemmWork final : bench::ProductWork {
  using ProductWork::ProductWork;
  void once() override {
    const int lda = ta ? M : K, ldb = tb ? K : N;
    if (cblas) cblas(101, ta ? 112 : 111, tb ? 112 : 111, M, N, K, 1, A.data, lda, B.data, ldb, 0, C.data, N);  // row-major; transposed or not
    else dnnl(ta ? 'T' : 'N', tb ? 'T' : 'N', M, N, K, 1, A.data, lda, B.data, ldb, 0, C.data, N);
  }
};
}  // namespace

static std::unique_ptr<bench::Work> make(const bench::Request& r) {
  return r.is("product", 3) ? std::make_unique<SgemmWork>(r) : nullptr;
}

static void use_threads(int n) {
  if (set_threads) set_threads(n);
}

template <class F>
static bool find(void* library, const char* name, F& f) {
  void* p = dlsym(library, name);
  std::memcpy(&f, &p, sizeof f);
  return p;
}

int main(int argc, char** argv) {
  const char* kind = argc == 3 ? argv[1] : "";
  void* library = argc == 3 ? dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) : nullptr;
  if (!library) {
    std::fprintf(stderr, "bench_blas openblas|onednn LIBRARY: %s\n", argc == 3 ? dlerror() : "two words, please");
    return 2;
  }
  std::string version, kernel;
  if (std::strcmp(kind, "openblas") == 0) {
    const char *(*core)() = nullptr, *(*config)() = nullptr;
    find(library, "cblas_sgemm", cblas);
    find(library, "openblas_set_num_threads", set_threads);
    char number[32] = "";
    if (find(library, "openblas_get_config", config)) std::sscanf(config(), "OpenBLAS %31s", number);
    if (find(library, "openblas_get_corename", core)) kernel = core();
    version = number;
  } else {
    struct Version {
      int major, minor, patch;
    };
    const Version* (*number)() = nullptr;
    find(library, "dnnl_sgemm", dnnl);
    find(library, "omp_set_num_threads", set_threads);
    if (find(library, "dnnl_version", number)) version = std::to_string(number()->major) + "." + std::to_string(number()->minor) + "." + std::to_string(number()->patch);
  }
  if (!cblas && !dnnl) {
    std::fprintf(stderr, "%s has no %s\n", argv[2], std::strcmp(kind, "openblas") == 0 ? "cblas_sgemm" : "dnnl_sgemm");
    return 2;
  }
  return bench::serve(std::string("{\"name\": \"") + kind + "\", \"version\": \"" + version + "\", \"kernel\": \"" + kernel + "\"}", make, use_threads);
}
