#!/bin/bash
# Replays recorded debugger sessions and compares them with what was recorded, then checks that docs/debugging.md quotes
# the recordings word for word.
#
#   run.sh FOLDER SESSION...            e.g. run.sh build/test/tests attention.gdb demos.gdb edges.gdb demos.lldb
#   run.sh --update FOLDER SESSION...   records anew, in double, and puts the quotes in the docs right
#
# A session NAME.gdb is typed into gdb with the program FOLDER/NAME_debug_f64, then with NAME_debug_f32 if that is there; both
# transcripts must be NAME_gdb.txt. NAME_core.gdb is typed afterwards, on the core file that the session saved.
# Exit status: 0 equal, 1 different, 77 skipped.
set -u
export LC_ALL=C.UTF-8 TERM=dumb
unset DEBUGINFOD_URLS NO_COLOR

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
docs=$root/docs/debugging.md
engine=$root/engine/debug
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

update=no
if [ "${1:-}" = --update ]; then update=yes; shift; fi
[ $# -gt 1 ] || { echo "usage: run.sh [--update] FOLDER SESSION..."; exit 1; }
folder=$(realpath "$1")
shift

skip() { echo "skipped: $*"; exit 77; }

# The sessions as a person would see them: typed line by line, so that an error ends one command and not the session.
gdb_session() {  # PROGRAM SCRIPT [CORE]
  (cd "$work" && gdb -nx -q -ex "set width 0" -x "$engine/lesson.gdb" "$1" ${3:+"$3"} < <(grep -v -E '^(#|$)' "$2") 2>&1)
}
lldb_session() {  # lldb 14 now and then hangs where a program starts or ends: once more, and then it is not our fault
  local end='script import ctypes, os; ctypes.CDLL(None).fflush(None); os._exit(0)' try
  for try in 1 2 hung; do
    if [ $try = hung ]; then touch "$work/hung"; break; fi
    (cd "$work" && timeout -k 1 90 lldb -x -b -s "$engine/lesson.lldb" -o "command source -e false $2" -o "$end" -- "$1" < /dev/null > lldb.txt 2>&1) && break
  done
  cat "$work/lldb.txt"
}

ready_gdb() {
  command -v gdb > /dev/null || skip "gdb is not installed"
  [ "$(gdb -batch -nx -ex 'python print(hasattr(gdb, "print_options"))' 2>&1)" = True ] || skip "this needs gdb 13 or newer, with Python"
  version=$(gdb --version | sed -E -n '1s/.* ([0-9]+)\.[0-9].*/\1/p') recorded=13
}
ready_lldb() {
  command -v lldb > /dev/null || skip "lldb is not installed"
  source "$engine/lldb_python.sh"
  lldb -x -b -o 'script print(lldb.SBDebugger.GetVersionString())' < /dev/null 2>&1 | grep -q '^lldb version' || skip "this lldb has no Python"
  version=$(lldb --version | sed -E -n 's/.*version ([0-9]+)\..*/\1/p' | head -n 1) recorded=14
}

# Without what differs from run to run.
clean_gdb() {
  sed -E 's/^(\(gdb\) )+//' | sed -E -n '/^\+/,$p' | sed -E \
    -e '/^(\+\+|\+echo |\+set (confirm|trace-commands) )/d' \
    -e '/^\[Thread debugging|^Using host libthread_db|^warning: (Error disabling address|Memory read failed)/d' \
    -e '/^(Starting program: .*|Continuing\.|\+?quit)$/d' \
    -e 's/^\+/(gdb) /' \
    -e 's/ (at|file) [^ :]*\/((engine|layers|tests)\/)/ \1 \2/' \
    -e 's/0x[0-9a-f]+/0x.../g' \
    -e 's/^(Old value = ).*e-3[0-9]+$/\1(what lay there before)/' \
    -e 's/process [0-9]+/process N/'
}
clean_lldb() {
  sed -E -n '/^\(lldb\) command source -e/,$p' | sed -E \
    -e '1,2d' \
    -e '/^\(lldb\) # /d' -e 's/^\(lldb\) script print\("(== .*)"\)$/\1/' \
    -e 's/0x[0-9a-f]+/0x.../g' \
    -e '/^Process [0-9]+ (launched|resuming|exited)/d' -e '/^\(lldb\) script import ctypes/d' \
    -e 's/Process [0-9]+/Process N/' | awk '!/^== / || $0 != before { print } { before = $0 }'
}

transcript() {  # SESSION PROGRAM
  local name=${1%.*} kind=${1##*.}
  {
    "${kind}_session" "$2" "$here/$1"
    if [ -f "$here/${name}_core.$kind" ]; then "${kind}_session" "$2" "$here/${name}_core.$kind" "$work/core"; fi | "second_$kind"
  } | "clean_$kind"
}
second_gdb() { sed -E -n '/^(\(gdb\) )*\+/,$p'; }  # not the greeting
second_lldb() { cat; }

# What may differ without being wrong: line numbers of the engine, digits after the fourth, where in an optimised kernel
# gdb stops and which arguments it still sees, the precision and its tolerances, whether the processor watches memory, and
# whether the C library has symbols.
mask() {
  sed -E '/ at engine\/cpu\//{n; s/^[0-9]+\t.*/N\t.../}' "$1" | sed -E \
    -e 's/((engine|layers)\/[a-z_0-9\/]+\.(cpp|h)(:|, line ))[0-9]+/\1N/' \
    -e 's/( at [a-z_0-9]+\.(cpp|h|c):)[0-9]+(:[0-9]+)?/\1N/' \
    -e 's/^[0-9]+\t/N\t/; s/^(Old value = ).*/\1.../' \
    -e 's/[-+.e0-9]+ (apart|by the tape|by differences)/N \1/g; s/(worst gap|allowed|<|darkest) [-+.e0-9]+/\1 N/g; s/^  most at .*/  most at .../; s/[0-9]+ (of [0-9]+ entries differ)/N \1/' \
    -e 's/([0-9]\.[0-9]{4})[0-9]+/\1/g' \
    -e 's/(CpuBackend::[a-z_]+ )\(.*\) at/\1(...) at/' \
    -e 's/^(   (sum|stored)) +/\1 /' -e 's/in=[^,]*, where/in=..., where/' \
    -e 's/glass::f32::/glass::f64::/g; s/_f32\b/_f64/g' \
    -e 's/^Hardware watchpoint/Watchpoint/' \
    -e 's/(frame #[0-9]+: )(__libc_start_|___lldb_unnamed_symbol).*/\1.../'
}

# The page with each quoted section put in anew. A section is what follows "== name" in a recording.
quoted() {
  awk -v here="$here" '
    function section(file, name,   line, now, text) {
      while ((getline line < (here "/" file)) > 0)
        if (line ~ /^== /) now = substr(line, 4); else if (now == name) text = text line "\n"
      close(here "/" file)
      return text == "" ? file " has no section \"" name "\"\n" : text
    }
    skipping && /^```$/ { skipping = 0; next }
    skipping { next }
    { print }
    /^<!-- transcript: tests\/debugger\/[a-z_]+.txt / {
      name = $0; sub(/^<!-- transcript: tests\/debugger\/[a-z_]+.txt /, "", name); sub(/ -->$/, "", name)
      file = $3; sub(/^.*\//, "", file)
      printf "```text\n%s```\n", section(file, name)
      skipping = 1
    }' "$docs"
}

status=0
for session in "$@"; do
  name=${session%.*} kind=${session##*.}
  golden=$here/${name}_$kind.txt
  "ready_$kind"
  different=0 written=no
  for precision in f64 f32; do
    program=$folder/${name}_debug_$precision
    [ -x "$program" ] || continue
    transcript "$session" "$program" > "$work/got.txt"
    if [ -f "$work/hung" ]; then skip "lldb hung twice"; fi
    if grep -q -E '^error: .*launch failed|[Cc]ould not trace the inferior|ptrace: ' "$work/got.txt"; then skip "$kind may not start programs here (is ptrace allowed?)"; fi
    if [ $update = yes ] && [ $written = no ]; then
      cp "$work/got.txt" "$golden" && echo "wrote $golden"
      written=yes
    fi
    diff -u --label "$(basename "$golden")" --label "$session in $precision" <(mask "$golden") <(mask "$work/got.txt") || different=1
    [ "$kind" = gdb ] || break  # lldb: once is enough
  done
  if [ $different = 1 ] && [ "$version" != "$recorded" ]; then
    skip "$session was recorded with $kind $recorded; $kind $version words some of it differently, as shown above"
  fi
  [ $different = 0 ] || status=1
done

if [ $update = yes ]; then
  quoted > "$work/docs.md" && cp "$work/docs.md" "$docs" && echo "wrote $docs"
fi
diff -u --label docs/debugging.md --label "with today's recordings" "$docs" <(quoted) || status=1
[ $status = 0 ] || echo "If the new transcript is right: $0 --update ${folder#"$PWD/"} $*"
exit $status
