# Shared by tutorials/run and tests/run: what is missing, and a quiet build. Sourced from the project's root.
yes=${yes:-}

# Is one of the headers "a.h|b.h" there?
has_header() {
  local header
  for header in ${1//|/ }; do
    printf '#include <%s>\n' "$header" | "$compiler" -x c++ -std=c++20 -E - >/dev/null 2>&1 && return
  done
  return 1
}

# Fills the array `missing` with Debian packages. Each argument is PACKAGE:HEADER, the header shows that it is there.
look_for() {
  missing=()
  compiler=$(command -v c++ || command -v g++ || command -v clang++ || true)
  [ -n "$compiler" ] || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v make >/dev/null || command -v ninja >/dev/null || missing+=(make)
  local pair
  for pair in "$@"; do
    { [ -n "$compiler" ] && has_header "${pair#*:}"; } || missing+=("${pair%%:*}")
  done
}

need() {
  look_for "$@"
  [ ${#missing[@]} -eq 0 ] && return
  echo "Missing: ${missing[*]}" >&2
  if ! command -v apt-get >/dev/null; then
    echo "Please install them with your package manager (macOS: brew install cmake fmt cli11 catch2; vcpkg.json lists the libraries)." >&2
    exit 2
  fi
  local root=""
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null && root="sudo " || root="su -c "
  fi
  local install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  local shown="apt-get update && ${root}apt-get install -y --no-install-recommends ${missing[*]}"
  [ "$root" = "su -c " ] && shown="su -c '$install'" || shown="$root$shown"
  if [ -z "$yes" ]; then
    if [ ! -t 0 ] || [ "$root" = "su -c " ]; then
      printf 'Install them with:\n  %s\n(--yes does it for you, as root or with sudo)\n' "$shown" >&2
      exit 2
    fi
    read -r -p "Install them now with \"$shown\"? [y/N] " answer
    case $answer in [yY]*) ;; *) exit 2 ;; esac
  fi
  if [ "$root" = "su -c " ]; then
    printf 'Neither root nor sudo here. As root, run:\n  %s\n' "$install" >&2
    exit 2
  fi
  export DEBIAN_FRONTEND=noninteractive
  { ${root}apt-get update && ${root}apt-get install -y --no-install-recommends "${missing[@]}"; } >&2
  hash -r
  look_for "$@"
  if [ ${#missing[@]} -ne 0 ]; then echo "Still missing: ${missing[*]}" >&2; exit 2; fi
}

need_for_lessons() { need libfmt-dev:fmt/format.h libcli11-dev:CLI/CLI.hpp; }
need_for_cuda() { need nlohmann-json3-dev:nlohmann/json.hpp; }  # the numbers of the CPU are handed over as JSON
need_for_tests() {  # Catch2 2 has catch.hpp, Catch2 3 has catch_all.hpp
  need libfmt-dev:fmt/format.h libcli11-dev:CLI/CLI.hpp "catch2:catch2/catch.hpp|catch2/catch_all.hpp"
}

# build PRESET TARGET...: quiet, with a progress line on a terminal; the log is shown if it fails.
build() {
  local preset=$1 log=build/$1.log jobs
  shift
  jobs=$(nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
  mkdir -p build
  if [ ! -f "build/$preset/CMakeCache.txt" ]; then
    echo "Building (the first time takes a minute, with the tests some; log in $log) ..." >&2
    cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 2; }
  fi
  if ! cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} 2>&1 | tee "$log" | progress; then
    grep -E -A 12 '(: |^)(fatal )?error[: ]|undefined reference|\*\*\*' "$log" >&2 || tail -n 30 "$log" >&2
    exit 2
  fi
}

progress() {
  local line
  while IFS= read -r line; do
    if [ -t 2 ] && [[ $line == \[*%\]*Building* ]]; then printf '\r\033[K%s' "${line:0:70}" >&2; fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}
