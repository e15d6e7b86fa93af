#!/usr/bin/env bash
# The kernels, the tests and the benchmark by nvcc, for sm_80 and sm_90, compiled and linked: no warning and no register spilled to memory. Needs no
# GPU. Exit 77, skipped, where there is no nvcc.
#   tests/cuda/nvcc.sh [BUILD_FOLDER]      default: build/gpu
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v "${CUDACXX:-nvcc}" >/dev/null; then
  echo "skipped: no nvcc"
  exit 77
fi
build=${1:-build/gpu}
log=$build/nvcc.log
mkdir -p "$build"
cmake -S . -B "$build" -DGLASS_CUDA=ON -DGLASS_TESTS=OFF -DGLASS_WERROR=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >"$log"
if ! cmake --build "$build" -j 2 --target cuda_ladder tests_gpu bench_gpu >>"$log" 2>&1; then
  grep -iE "error|undefined" "$log" || tail -n 20 "$log"
  exit 1
fi
# --warn-on-spills makes a warning of each spill
if grep -i "warning" "$log"; then
  find "$build" -name "*.cu.o" -delete  # or the next run, with nothing to compile, would be silent
  echo "nvcc: warnings, or registers spilled to memory; the whole log: $log"
  exit 1
fi
echo "nvcc: $(grep -c "Compiling entry function" "$log" || true) kernels compiled, cuda_ladder, tests_gpu and bench_gpu linked, no warning, no spill"
