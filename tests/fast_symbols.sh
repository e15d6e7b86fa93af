#!/usr/bin/env bash
# Code that was compiled for wide vectors must not be shared: an inline function of a common header, left behind in such an object
# as a weak symbol, could be the copy that the linker keeps for the whole program, and an older processor would stop at it.
#
#   tests/fast_symbols.sh OBJECT...        the objects of engine/cpu/fast for one width or several
set -euo pipefail
command -v nm >/dev/null || { echo "no nm here: skipped"; exit 77; }
bad=$(nm -C "$@" | grep -E ' [WVu] ' | grep -vE '::v(16|32|64)::|DW\.ref\.' | sort -u || true)
if [ -n "$bad" ]; then
  printf 'weak symbols in the objects of the fast kernels:\n%s\n' "$bad"
  exit 1
fi
echo "nothing is shared: $# objects"
