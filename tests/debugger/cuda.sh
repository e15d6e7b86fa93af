#!/bin/bash
# Replays the recorded session of one CUDA thread in gdb, cuda_session.gdb, and compares it with cuda_expected.txt; then checks that
# docs/cuda.md quotes that word for word.
#
#   cuda.sh PROGRAM            the transcript must be cuda_expected.txt
#   cuda.sh --update PROGRAM   records it anew, and puts the quotes in the docs right
#
# Exit status: 0 equal, 1 different, 77 skipped.
set -u
export LC_ALL=C.UTF-8
unset DEBUGINFOD_URLS

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
golden=$here/cuda_expected.txt
docs=$root/docs/cuda.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

update=no
if [ "${1:-}" = --update ]; then update=yes; shift; fi
[ $# -eq 1 ] || { echo "usage: cuda.sh [--update] PROGRAM"; exit 1; }

skip() { echo "skipped: $*"; exit 77; }
debug() { (cd "$work" && gdb -batch -nx "$@" 2>&1 < /dev/null); }

command -v gdb > /dev/null || skip "gdb is not installed"
[ "$(debug -ex 'python print(hasattr(gdb, "print_options"))')" = True ] ||
  skip "this needs gdb 13 or newer, with Python"
debug -ex 'break main' -ex run "$(realpath "$1")" | grep -q '^Breakpoint 1, main' ||
  skip "gdb may not start programs here (is ptrace allowed?)"

# A session, with the line number for each {text}: of the first line of flash_2() in flash.cu that has this text.
numbered() {
  awk -v kernels="$root/engine/cuda/kernels/flash.cu" '
    match($0, /\{.*\}/) {
      text = substr($0, RSTART + 1, RLENGTH - 2)
      n = found = 0
      inside = 0
      while ((getline line < kernels) > 0) { n++; if (index(line, "flash_2(")) inside = 1; if (inside && !found && index(line, text)) found = n }
      close(kernels)
      $0 = substr($0, 1, RSTART - 1) found substr($0, RSTART + RLENGTH)
    }
    { print }' "$1"
}

# The session as a person would see it, without what differs from run to run.
transcript() {
  local program
  program=$(realpath "$1")
  {
    numbered "$here/cuda_session.gdb" > "$work/session.gdb"
    debug -x "$root/engine/debug/lesson.gdb" -x "$work/session.gdb" "$program"
  } | sed -E -n '/^\+/,$p' | sed -E \
    -e '/^(\+\+|\+echo |\+set )/d' \
    -e '/^\[Thread debugging|^Using host libthread_db|^warning: (Error disabling address|Memory read failed)/d' \
    -e 's/^\+/(gdb) /' \
    -e 's/ (at|file) [^ :]*\/((engine|layers|tests)\/)/ \1 \2/' \
    -e 's/0x[0-9a-f]+/0x.../g' \
    -e 's/process [0-9]+/process N/'
}

# What may differ without being wrong: line numbers of the engine, digits after the fourth, where in an optimised
# kernel gdb stops and which arguments it still sees, the precision, and whether the processor watches memory for gdb.
mask() {
  sed -E '/ at engine\/cpu\//{n; s/^[0-9]+\t.*/N\t.../}' "$1" | sed -E \
    -e 's/((engine|layers)\/[a-z_0-9\/]+\.(cpp|cu|h)(:|, line ))[0-9]+/\1N/' \
    -e 's/(flash\.cu:)[0-9]+/\1N/' \
    -e 's/^[0-9]+\t/N\t/' \
    -e 's/([0-9]\.[0-9]{4})[0-9]+/\1/g' \
    -e 's/(CpuBackend::[a-z_]+ )\(.*\) at/\1(...) at/' \
    -e 's/in=[^,]*, where/in=..., where/' \
    -e 's/glass::f32::/glass::f64::/g' \
    -e 's/^Hardware watchpoint/Watchpoint/'
}

# The page with each quoted section put in anew. A section is what follows "== name" in the golden file.
quoted() {
  awk -v golden="$golden" -v base="$(basename "$golden")" '
    BEGIN {
      while ((getline line < golden) > 0)
        if (line ~ /^== /) name = substr(line, 4); else section[name] = section[name] line "\n"
    }
    skipping && /^```$/ { skipping = 0; next }
    skipping { next }
    { print }
    $0 ~ "^<!-- transcript: tests/debugger/" base " " {
      name = $0; sub(/^<!-- transcript: [^ ]+ /, "", name); sub(/ -->$/, "", name)
      printf "```text\n%s```\n", name in section ? section[name] : base " has no section \"" name "\"\n"
      skipping = 1
    }' "$docs"
}

status=0
for program in "$@"; do
  transcript "$program" > "$work/got.txt"
  if [ $update = yes ]; then
    cp "$work/got.txt" "$golden" && echo "wrote $golden"
    update=written
  fi
  if ! diff -u --label "$(basename "$golden")" --label "$(basename "$program")" <(mask "$golden") <(mask "$work/got.txt"); then
    status=1
  fi
done
version=$(gdb --version | sed -E -n '1s/.* ([0-9]+)\.[0-9].*/\1/p')
if [ $status = 1 ] && [ "$version" != 13 ]; then
  skip "the transcript was recorded with gdb 13; gdb $version words some of it differently, as shown above"
fi

if [ $update = written ]; then
  quoted > "$work/docs.md" && cp "$work/docs.md" "$docs" && echo "wrote $docs"
fi
diff -u --label "docs/$(basename "$docs")" --label "with today's $(basename "$golden")" "$docs" <(quoted) || status=1
[ $status = 0 ] || echo "If the new transcript is right: $0 --update $*"
exit $status
