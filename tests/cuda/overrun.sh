#!/usr/bin/env bash
# overrun.sh PROGRAM: each planted overrun of mistakes_test.cu must end the program with a report of the sanitizers that names the
# file. For a build with AddressSanitizer and UndefinedBehaviorSanitizer.
set -eu
failed=0
for test in "an overrun of shared memory" "an overrun of dynamic shared memory" "an overrun of a row of shared memory"; do
  if report=$("$1" "$test" 2>&1); then
    echo "not found: $test"; failed=1
  elif ! grep -q "mistakes_test.cu:[0-9]*" <<< "$report" || ! grep -Eq "AddressSanitizer|runtime error" <<< "$report"; then
    echo "found, but not named: $test"; echo "$report" | head -20; failed=1
  fi
done
exit $failed
