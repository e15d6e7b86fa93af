#!/usr/bin/env bash
# Does docs/one-op.md tell the truth? In a copy of the project this applies the page's own code blocks and runs the
# checks of the ops: softsign must pass. Then it flips a sign, and the checks must fail in the words that the page quotes.
#
#   tests/one_op.sh           a few minutes; needs what tests/run needs
#   tests/one_op.sh --keep    keeps the copy and says where it is
#
# In the page, the line before a code block says what to do with it:
#   <!-- file PATH -->                   a new file
#   <!-- insert PATH after "TEXT" -->    after the first line that contains TEXT; or `before` it
#   <!-- expect -->                      the output after the flip has these lines, in this order; "..." is anything
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD page=docs/one-op.md kernels=engine/functions.h
keep=
case ${1:-} in
  '') ;;
  --keep) keep=1 ;;
  -h|--help) sed -n '2,11s/^# \{0,1\}//p' tests/one_op.sh; exit 0 ;;
  *) echo "tests/one_op.sh: unknown option $1 (--help)" >&2; exit 2 ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/one_op.XXXXXX")
copy=$work/glassgrad tests=$work/build/tests/tests_f64
passed=0 failed=0
finish() {
  status=$?
  if [ -n "$keep" ]; then echo "the copy is in $copy"; else rm -rf "$work"; fi
  if [ $status -ne 0 ] && [ $failed -eq 0 ]; then failed=1; fi
  echo "$passed passed, $failed failed"
  exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

# stage TEXT FUNCTION: each needs the one before, so the first that fails is the last.
stage() {
  local start=$SECONDS status=0
  set +e  # in an `if`, the function would run on after an error
  (set -e; cd "$copy"; "$2") >"$work/log" 2>&1
  status=$?
  set -e
  if [ $status -eq 0 ]; then
    passed=$((passed + 1))
    printf 'ok      %4d s  %s\n' $((SECONDS - start)) "$1"
  else
    failed=$((failed + 1))
    printf 'FAILED  %4d s  %s\n' $((SECONDS - start)) "$1"
    grep -A 6 -E 'error:|CMake Error' "$work/log" >"$work/why" || cp "$work/log" "$work/why"
    sed -n '1,40s/^/    /p' "$work/why"
    exit 1
  fi
}

make_copy() {
  cd "$root"
  if [ -e .git ]; then  # what git knows, and what is new and not ignored
    git -c safe.directory="$root" ls-files -z --cached --others --exclude-standard >"$work/listed"
    while IFS= read -r -d '' file; do
      if [ -e "$file" ]; then printf '%s\0' "$file"; fi
    done <"$work/listed" >"$work/files"
    tar -cf "$work/copy.tar" --null -T "$work/files"
  else
    tar -cf "$work/copy.tar" --exclude=./build .
  fi
  tar -xf "$work/copy.tar" -C "$copy"
}

apply_page() {
  awk -v expected="$work/expected" '
    function fail(text) { print FILENAME ":" (kind == "" ? FNR : at) ": error: " text; failed = 1; exit 1 }
    function read_marker(  m, word, n, q) {
      m = $0; at = FNR
      if (!sub(/^<!-- /, "", m) || !sub(/ -->$/, "", m)) fail("this is not a marker: " $0)
      n = split(m, word, " ")
      kind = word[1]; path = word[2]; side = word[3]
      if (kind == "insert") {
        q = index(m, "\"")
        text = substr(m, q + 1, length(m) - q - 1)
        if ((side != "after" && side != "before") || !q || text == "" || substr(m, length(m)) != "\"")
          fail("write <!-- insert PATH after \"TEXT\" -->, not: " $0)
      } else if (!(kind == "file" && n == 2) && !(kind == "expect" && n == 1)) fail("unknown marker: " $0)
    }
    function apply(  line, whole, here, found) {
      if (kind == "expect") { printf "%s", block > expected; expects++; return }
      while ((getline line < path) > 0) {
        here = !found && kind == "insert" && index(line, text)
        if (here) found = 1
        whole = whole (here && side == "before" ? block : "") line "\n" (here && side == "after" ? block : "")
      }
      close(path)
      if (kind == "file") {
        if (whole != "") fail(path " is there already")
        whole = block
      } else if (whole == "") fail("there is no file " path)
      else if (!found) fail(path " has no line that contains \"" text "\"")
      printf "%s", whole > path
      close(path)
      print kind, path
      applied++
    }
    inside && /^```/ { inside = 0; if (kind != "") apply(); kind = ""; next }
    inside { block = block $0 "\n"; next }
    /^```/ { inside = 1; block = ""; next }
    kind != "" { fail("a marker must stand right before its code block") }
    /^<!--/ { read_marker() }
    END {
      if (failed) exit 1
      if (inside || kind != "") fail("the page ends inside a code block")
      if (!applied) fail("no code block to apply")
      if (expects != 1) fail("one block of expected output, please")
    }' "$page"
}

compile() { cmake --build "$work/build" --target tests_f64 -j "$(nproc 2>/dev/null || sysctl -n hw.ncpu)"; }

build() {
  cmake -S . -B "$work/build" -DCMAKE_BUILD_TYPE=Debug -DGLASS_WERROR=ON
  compile
}

green() {  # Catch2 2 is content with a filter that fits nothing
  "$tests" "$@" >"$work/green" || { cat "$work/green"; return 1; }
  cat "$work/green"
  grep -q '^All tests passed' "$work/green"
}

checks() { green 'every op*'; }

ran() {
  local n
  "$tests" 'every op*' -c softsign -r xml >"$work/xml"
  n=$(grep -c '<Section name="softsign"' "$work/xml" || true)
  [ "$n" -ge 7 ] || { echo "error: softsign was in $n checks, not in 7"; return 1; }
}

catalogue() {
  green 'every op of the catalogue*'
  grep -q '^Var softsign(' engine/ops.h || { echo "error: softsign is not in engine/ops.h"; return 1; }
}

flip() {
  sed 's/softsign: return 1 \//softsign: return -1 \//' "$kernels" >"$work/flipped"
  if cmp -s "$kernels" "$work/flipped"; then echo "error: $kernels: no slope of softsign to flip"; return 1; fi
  cp "$work/flipped" "$kernels"
  compile
}

red() {
  if "$tests" 'every op*' -c softsign >"$work/red"; then echo "error: all checks pass in spite of the flip"; return 1; fi
  awk -v page="$page" '
    NR == FNR { if ($0 != "..." && $0 != "") want[++n] = $0; next }
    { print }
    k < n && $0 == want[k + 1] { k++ }
    END { if (k < n || !n) { print "error: the output lacks this line of " page " (or has it too early):"; print want[k + 1]; exit 1 } }
  ' "$work/expected" "$work/red"
}

mkdir "$copy"
stage "a clean copy of the project" make_copy
stage "the code blocks of $page fit" apply_page
stage "they compile without a warning" build
stage "every check of every op passes" checks
stage "softsign was among them" ran
stage "the catalogue has it, with a row and a file" catalogue
stage "the sign of the slope is flipped" flip
stage "the checks fail, in the words of the page" red
