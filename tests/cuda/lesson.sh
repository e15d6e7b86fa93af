#!/usr/bin/env bash
# lesson.sh LESSON TWIN [OPTIONS]: the lesson in double on the CPU, then its twin in float on CUDA; every check must hold and every
# gradient must be the CPU's.
set -euo pipefail
lesson=$1 twin=$2
shift 2
reference=$(mktemp)
trap 'rm -f "$reference"' EXIT
"$lesson" "$@" --json >"$reference"
"$twin" "$@" --device cuda --reference "$reference" --color never --width 80 --verbose
