#!/usr/bin/env bash
# The command line, as a person and as a script meet it. Usage: cli.sh FOLDER_OF_THE_LESSONS
# Names such as O11 are the ids of bug reports of other programs, turned into tests here.
set -u
lessons=$(cd "$1" && pwd)
docs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../docs" && pwd)
lesson=$lessons/09_self_attention
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export LC_ALL=C.UTF-8
unset NO_COLOR FORCE_COLOR CLICOLOR_FORCE
failed=0 passed=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAILED: %s\n' "$*"; sed 's/^/    /' out err | head -20; }
run() { "$lesson" "$@" >out 2>err </dev/null; status=$?; }
# expect NAME STATUS TEXT_ON_STDERR arguments...   (an error is one message, nothing on standard output)
refuses() {
  local name=$1 text=$2; shift 2
  run "$@"
  if [ $status -eq 2 ] && grep -qF -- "$text" err && [ ! -s out ]; then ok; else bad "$name (status $status): $*"; fi
}
accepts() {
  local name=$1 text=$2; shift 2
  run "$@"
  if [ $status -eq 0 ] && grep -qF -- "$text" out && [ ! -s err ]; then ok; else bad "$name (status $status): $*"; fi
}

accepts "a plain run" "checks ok"
accepts "your own sentence" "dogs" --text "dogs chase cats"
accepts "one word" "checks ok" --text word
accepts "long text is cut, and says so" "The first 12 of 40 words" --text "$(printf 'w%s ' $(seq 40))"
accepts "--tokens" "The first 3 of 6 words" --tokens 3
accepts "--dim" "6 x 7" --dim 7
accepts "--help" "tutorials/run 09 --text" --help
accepts "--help-all" "--spell" --help-all
run --help; grep -q -- --spell out && bad "--help shows the rare options" || ok
accepts "--version" "glassgrad" --version
accepts "--only" "dE" --only dE,A
run --only dE; grep -q '^ *Q ' out && bad "--only shows Q" || ok
accepts "-q is the verdict only" "checks ok" -q
[ "$(wc -l <out)" -eq 1 ] && ok || bad "-q prints more than a line"
accepts "-v shows the tape" "The whole tape" -v
accepts "--spell a score" "E[cat,sat] = " --spell 1,2
accepts "--spell a gradient" "through %5 matmul \"K\"" --at dX --spell 0,1
# --why and --step
accepts "--why a gradient" "adds up (< 1e-10)" --why 'dW_q[1,2]'
grep -qF 'W_q[1,2] goes into 6 numbers of %4 matmul "Q"' out && ok || bad "--why names the line that sent it"
accepts "--why a value" "the stored value, bit for bit" -q --why 'A[0,3]'
accepts "--why by number" "Why dE[0,1] = " -q --why 'd%8[0,1]'
accepts "--why twice" "Why dX[0,0] = " --why 'dX[0,0]' --why 'Y[2,1]'
grep -q 'Why Y\[2,1\] = ' out && ok || bad "the second --why"
accepts "--top" "and 5 more" -q --why 'dW_q[1,2]' --top 1
accepts "--depth" "dS[1,2]" -q --why 'dW_q[1,2]' --depth 2
for l in 09_self_attention 12_multi_head 17_encoder_block 24_flash_attention 31_multi_token_attention; do
  lesson=$lessons/$l; accepts "every entry of $l adds up" "are the sums of their parts (< 1e-10)" --why all
  tail -1 out | grep -q 'checks ok' && ok || bad "--why all leaves a trace in $l"
done
lesson=$lessons/20_training
run -q --why 'dX[0,0]'; [ $status -eq 2 ] && grep -qF "on tapes of its own only" err && ok || bad "--why where the page's tape is empty"
run --step; [ $status -eq 2 ] && grep -qF "on tapes of its own" err && ok || bad "--step where the page's tape is empty"
lesson=$lessons/09_self_attention
for what in 'dW_z[0,0]=did you mean dW_q?' 'dW_q[4,0]=dW_q is 4 x 3' 'dW_q=say which entry' 'dW_q[1]=is not an entry' '%99[0,0]=its last is %10' 'd%99[0,0]=no line %99' '=is not an entry'; do
  run -q --why "${what%%=*}"; [ $status -eq 2 ] && grep -qF -- "${what#*=}" err && ok || bad "--why $what"
done
refuses "--depth 0" "--depth" --why 'Y[0,0]' --depth 0
refuses "--top nonsense" "--top" --why 'Y[0,0]' --top x
refuses "--step with --json" "--step: it does not go with" --step --json
printf 'f 2\nb\nb\nb\nj A\nj dA\nj nothing\nw Y[9,9]\nn dQ[0,0]\nn Q[0,0] 0\nn Q[0,0]\nw\nz\nt\nf 99\nq\nnever\n' | "$lesson" --step >out 2>err; status=$?
[ $status -eq 0 ] && [ ! -s err ] && ok || bad "--step as a transcript"
for text in "Step 3 of 22, forward" "This is the first step." "Step 10 of 22, forward: %9 softmax" "Step 13 of 22, back: %9 softmax" "no line of the tape is called nothing" \
    "Y is 6 x 3; rows and columns" "nudge the value: n Q[0,0]" "is not a step" "bit for bit" "Which one?" 'no command "z"' "Step 22 of 22, back: %0 input" "[16] q" "checks ok"; do
  grep -qF -- "$text" out && ok || bad "--step does not say: $text"
done
grep -q never out && bad "--step goes on after q" || ok
accepts "--step without commands" "Step 1 of 22" --step
run --only A,dZ; [ $status -eq 2 ] && grep -qF "this lesson shows no matrix of that name" err && [ "$(wc -l <err)" -eq 1 ] && ok || bad "--only of a name that is not there"
refuses "--reference on the CPU" "it goes with --device cuda" --reference x.json
printf 'n E[0,0] 3\nn E[0,0] 0.001\nq\n' | "$lessons/16_softmax_alternatives" --variant sparsemax --step >out 2>err
[ "$(grep -c 'A fresh run would choose otherwise at %' out)" -eq 1 ] && [ "$(grep -c 'bit for bit' out)" -eq 2 ] && ok || bad "a nudge that changes a choice says so, a small one does not"
lesson=$lessons/02_tape; accepts "--step says that there were more sweeps" "--step walked the first of the 2 sweeps" --step
lesson=$lessons/14_positions
for dim in 2 6 8; do accepts "words of width $dim" "checks ok" --dim $dim; done  # at 6 and 8 a softmax is so sure that two rows of Y are nearly one
lesson=$lessons/09_self_attention
FORCE_COLOR=1 run; grep -q $'\x1b' out && ok || bad "FORCE_COLOR"; NO_COLOR=1 CLICOLOR_FORCE=1 run; grep -q $'\x1b' out && bad "NO_COLOR wins" || ok
for l in "$lessons"/[0-9][0-9]_* "$lessons/diff"; do
  if [ -f "$l" ] && [ -x "$l" ]; then "$l" --help-all; fi
done 2>err | grep -oE '^ +(-[a-z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u >out
[ "$(wc -l <out)" -gt 30 ] && ok || bad "--help-all lists the options"
while read -r option; do grep -qF "\`$option" "$docs/see.md" && ok || bad "docs/see.md does not list $option"; done <out
accepts "--digits" "0.70" --digits 2 --only A
run --seed 5; cp out first; run --seed 5; cmp -s out first && ok || bad "same seed, same output"
run --seed 6; cmp -s out first && bad "another seed, the same output" || ok


for n in 0 1 1024; do accepts "J06 --threads $n" "checks ok" --threads $n; done
for n in -1 1000000 99999999999999999999 abc "" 2x; do refuses "J06 --threads '$n'" "--threads" --threads "$n"; done
for n in -1 1000000 abc; do
  export GLASS_THREADS=$n
  refuses "J06 GLASS_THREADS=$n" "GLASS_THREADS: the number of threads is from 1 to 1024"
done
for n in "" 0 2; do
  export GLASS_THREADS=$n
  accepts "J06 GLASS_THREADS='$n'" "checks ok"
done
unset GLASS_THREADS
accepts "--health" "rows > 0.99" --health
grep -q 'W_q' out && ok || bad "--health names the parameters with their gradients"
accepts "--profile" "matmul_nt" --profile
for part in "Where a step goes" "measured, not checked" "the rest" "recorded at" "GF/s" "checks ok"; do
  grep -qF -- "$part" out && ok || bad "--profile says $part"
done
awk '/all ops/ { exit !($4 > 0 && $6 > 0 && $9 > 0) }' out && ok || bad "--profile: time, FLOPs and bytes are above 0"
tail -1 out | grep -q 'checks ok' && ok || bad "--profile: the verdict is the last line"
run; grep -q 'GF/s' out && bad "a profile that nobody asked for" || ok
accepts "--profile -q is the verdict only" "checks ok" --profile -q
[ "$(wc -l <out)" -eq 1 ] && ok || bad "--profile -q prints more than a line"
accepts "--profile --ascii" "a step" --profile --ascii
LC_ALL=C grep -q '[^ -~]' out && bad "--profile --ascii prints other characters" || ok
accepts "--help-all lists --profile" "--profile" --help-all
lesson=$lessons/24_flash_attention
accepts "--profile of flash attention" "flash_attention" --profile
grep -q '^   %[0-9]* flash_atte' out && ok || bad "--profile names the line of flash_attention"
lesson=$lessons/22_checkpointing
accepts "--profile inside recompute" "Where a step goes" --profile
lesson=$lessons/09_self_attention
refuses "a variant where there is none" "--variant" --variant causal
lesson=$lessons/11_masks
accepts "--variant" "checks ok" --variant padding
cp out first; run; cmp -s out first && bad "--variant changes nothing" || ok
refuses "a variant that is not there" "--variant" --variant sideways
accepts "--heat of what was shown, though later lines have the same name" " A  %10  6 x 6" --heat "A,E masked,dQ"
grep -q '^ the ██╱╱╱╱╱╱╱╱╱╱' out && grep -q '╱╱ hidden' out && grep -q ' dQ  %2  6 x 3' out && ok || bad "--heat hatches what is hidden"
accepts "--help lists the variants" "causal, padding" --help
lesson=$lessons/diff
accepts "diff lists its forms" "flash"
accepts "diff of two masks" "They part at head 0 S" causal padding
accepts "diff of two exact forms" "The results are the same." flash plain
accepts "diff of one projection and one per head" "Every value that both have is the same" cut-up per-head
accepts "diff of two blocks" "They part at N1" pre-norm post-norm
accepts "diff of fewer key heads" "other shapes" multi-head grouped
accepts "diff of another function" "They part at head 0 Y" linear plain
accepts "diff with options" "4 heads" rotary alibi --heads 4 --dim 16 --text "a b c"
refuses "diff of one form" "it takes two" causal
refuses "diff of a form that is not there" "there is no attention \"flesh\"; there is plain" flesh plain
refuses "diff with heads that do not fit" "cannot be cut into 3 heads" causal plain --heads 3
lesson=$lessons/09_self_attention
lesson=$lessons/34_char_gpt
if [ -x "$lesson" ]; then  # not where only double is built
  for i in $(seq 60); do echo "a sentence, again"; done >text.txt
  accepts "--steps of training, on a file" "checks ok" --file text.txt --steps 3
  accepts "--preset" "4 heads, width 64" --file text.txt --steps 1 --preset licence
  grep -q '~' out && ok || bad "what training came to is not marked"
  accepts "--temperature and --top-k" "checks ok" --file text.txt --steps 1 --temperature 0 --top-k 2
  refuses "a text that is not there" "nowhere.txt: No such file" --file nowhere.txt
  printf 'too short' >short.txt
  refuses "a text that is too short" "need 33" --file short.txt
  printf 'caf\xe9 %0400d' 1 >latin1.txt
  refuses "a text in another encoding" "the byte at position 3" --file latin1.txt
  : >nothing.txt
  refuses "an empty text" "empty" --file nothing.txt
  refuses "a preset that is not there" "--preset" --preset huge
  refuses "a negative number of steps" "--steps" --steps -5
  refuses "O05 a temperature that is no number" "--temperature" --file text.txt --steps 1 --temperature nan
fi
lesson=$lessons/09_self_attention

accepts "--heat of a value and a gradient" "-█-▓-▒-░ 0 +░+▒+▓+█" --heat A,dE
grep -q ' the     ▓▓░░      ▁▁█▃▁▁  0.6997 sat' out && ok || bad "--heat shades a row"
run --heat A; sed -n '/^ A  %9/h;/^ A  %9/!H;${x;p}' out | sed '/^$/q' >shown; sed -n '/^ A  %9/,/^```/p' "$docs/see.md" | sed 's/^```$//' >said
cmp -s shown said && ok || bad "docs/see.md shows another heat map"
accepts "--heat all" "W_q" --heat all --ascii
LC_ALL=C grep -q '[^ -~]' out && bad "--heat --ascii prints other characters" || ok
run --heat A --color always; grep -q $'\x1b\[48;5;69m' out && ok || bad "--heat in colour"
run --heat dZ; [ $status -eq 2 ] && grep -q -- "--heat dZ: this lesson has no matrix" err && ok || bad "--heat nothing"
for picture in svg dot; do
  accepts "--$picture FILE" "wrote tape.$picture" --$picture tape.$picture
  run --$picture -; [ $status -eq 0 ] && ! grep -q 'checks ok' out && grep -qE '^</svg>$|^digraph' out && ok || bad "--$picture - is the picture alone"
  grep -qF 'self_attention.cpp:' tape.$picture && grep -qF '%9 softmax  A' tape.$picture && ok || bad "--$picture names the lines"
  refuses "--$picture into no folder" "none/tape.$picture: cannot be written: No such file" --$picture none/tape.$picture
  refuses "--$picture into a folder" "$scratch: it is a folder" --$picture "$scratch"
  refuses "--$picture beside --json" "standard output holds one of them" --$picture - --json
  run --$picture tape.$picture --text '</svg><script>alert(1)</script> "]; a'; grep -qF '<script>' tape.$picture && bad "--$picture: hostile words" || ok
  ls ./*.part* >/dev/null 2>&1 && bad "--$picture leaves a part of a file" || ok
done
refuses "misspelled option" "did you mean --tokens" --tokns 3
refuses "O01 a negative count" "--tokens" --tokens -1
refuses "O01 a negative count" "--dim" --dim=-1
refuses "O01 a negative seed" "--seed" --seed -5
refuses "O03 a huge count" "--dim" --dim 4294967296
refuses "O03 a huge product" "--tokens: Value 3037000500" --tokens 3037000500 --dim 3037000500
refuses "O03 a huge seed" "--seed: Value 18446744073709551616" --seed 18446744073709551616
for entry in 4294967296,0 0,4294967297 99999999999999999999,0; do refuses "O03 a huge entry" "\"$entry\"" --spell $entry; done
for number in nan inf 1e400; do
  for option in --dim --tokens --digits --width; do refuses "O05 not a number" "$option: Value $number" $option $number; done
  printf '1,%s\n' $number >number.csv; refuses "O05 not a number" "number.csv, line 1, column 2: \"$number\"" --set X=number.csv
done
refuses "not a number" "--seed" --seed nan
refuses "text and file" "one of the two" --text a --file b
refuses "no word in the text" "no word" --text " "
printf '1,2\n3,4\n' >x.csv
refuses "an unknown matrix" "no matrix of that name; it has W_k, W_q, W_v, X" --set Z=x.csv
refuses "--set twice" "X is set twice" --set X=x.csv --set X=x.csv
run --spell 9,9; [ $status -eq 2 ] && grep -qF -- "--spell 9,9: E is 6 x 6" err && ok || bad "--spell outside"
run --at dZ; [ $status -eq 2 ] && grep -q "dZ: this lesson has no matrix" err && ok || bad "--at nothing"
refuses "--spell nonsense" "write row,column" --spell 1
refuses "--csv nothing" "dZ" --csv dZ
refuses "not UTF-8" "position 2" --text $'ab\xff'

printf '0.5,0.25\n-0.5,1\n' >w.csv
run --set X=x.csv --set W_q=w.csv --set W_k=w.csv --set W_v=w.csv --csv Q
[ "$(cat out)" = "$(printf -- '-0.5,2.25\n-0.5,4.75')" ] && ok || bad "numbers from the blackboard"
accepts "blackboard rows are called x0, x1" "x1" --set X=x.csv
refuses "a weight that does not fit" "W_k: w.csv is 2 x 2, but here W_k is 4 x 3" --set W_k=w.csv
refuses "rows and words differ" "2 rows, but the text has 3 words" --set X=x.csv --text "a b c"
printf '1,2\n3\n' >ragged.csv;           refuses "O08 ragged" "ragged.csv, line 2" --set X=ragged.csv
printf '1,2\n3,4' >noend.csv;            accepts "O08 no last line end" "checks ok" --set X=noend.csv
printf '1,2\n\n3,4\n\n' >blank.csv;      accepts "O08 blank lines" "checks ok" --set X=blank.csv
printf '1,nan\n3,4\n' >nan.csv;          refuses "O08 nan" "nan.csv, line 1, column 2" --set X=nan.csv
printf '0,5\n1,2,3\n' >comma.csv;        refuses "O08 decimal comma" "comma.csv, line 2" --set X=comma.csv
printf '1,2x\n' >junk.csv;               refuses "O08 junk after a number" "\"2x\" is not a number" --set X=junk.csv
printf '1,2,\n' >trailing.csv;           refuses "O07 trailing comma" "line 1, column 3: an empty field" --set X=trailing.csv
printf '\xef\xbb\xbf1,2,3\r\n4,5,6\r\n' >bom.csv
run --set X=bom.csv --csv X; [ "$(cat out)" = "$(printf '1,2,3\n4,5,6')" ] && ok || bad "O07 byte-order mark and CRLF"
refuses "O15 missing" "missing.csv: No such file" --set X=missing.csv
refuses "O15 a folder" "it is a folder" --set X="$scratch"
: >empty.csv; refuses "O15 empty" "no numbers" --set X=empty.csv
refuses "O15 /dev/null" "no word" --file /dev/null
refuses "O15 /dev/null" "/dev/null: no numbers" --set X=/dev/null
refuses "O15 missing" "missing.txt: No such file" --file missing.txt
refuses "O15 a folder" "$scratch: it is a folder" --file "$scratch"
refuses "O15 a file taken for a folder" "x.csv/y: Not a directory" --file x.csv/y
# Root may read everything, so as root somebody else does the reading.
printf '1,2\n' >secret.csv; chmod 000 secret.csv; chmod 711 "$scratch"
reader=(); [ "$(id -u)" -eq 0 ] && reader=(setpriv --reuid 65534 --clear-groups)
as_reader() { ${reader[@]+"${reader[@]}"} "$lesson" "$@" >out 2>err; status=$?; }
as_reader --version
if [ $status -eq 0 ]; then
  for option in "--set X=secret.csv" "--file secret.csv"; do
    as_reader $option
    [ $status -eq 2 ] && [ ! -s out ] && grep -qF "secret.csv: Permission denied" err && ok || bad "O15 no permission: $option"
  done
fi

printf '1e200,2e200\n-1e200,3\n' >huge.csv
run --set X=huge.csv; [ $status -eq 1 ] && grep -q "the first value that is not finite" err && ok || bad "an overflow is told as a story"

# O09: a closed pipe ends quietly
"$lesson" 2>err | head -1 >out; [ ! -s err ] && ok || bad "O09 closed pipe"
(trap '' PIPE; "$lesson" 2>err | head -1 >out); [ ! -s err ] && ok || bad "O09 closed pipe, signal ignored"
# O16: a full disk is an error, not a silent success
if [ -e /dev/full ]; then
  for option in "" -q -v "--csv Q" --help --help-all --version; do
    "$lesson" $option >/dev/full 2>err; [ $? -eq 2 ] && grep -q "cannot write" err && ok || bad "O16 full disk: $option"
  done
fi
# O11: no colour codes in files and pipes; always means always
run; grep -q $'\x1b' out && bad "O11 colour in a file" || ok
run --color always; grep -q $'\x1b' out && ok || bad "--color always"
if script -qec true /dev/null >/dev/null 2>&1; then  # a terminal of its own
  TERM=xterm script -qec "$lesson" /dev/null >out 2>err; grep -q $'\x1b\\[48;5' out && ok || bad "colour on a terminal"
  NO_COLOR=1 TERM=xterm script -qec "$lesson" /dev/null >out 2>err; grep -q $'\x1b' out && bad "O11 NO_COLOR" || ok
  NO_COLOR= TERM=xterm script -qec "$lesson" /dev/null >out 2>err; grep -q $'\x1b' out && ok || bad "an empty NO_COLOR does not count"
  TERM=dumb script -qec "$lesson" /dev/null >out 2>err; grep -q $'\x1b' out && bad "O11 TERM=dumb" || ok
fi
# O13: without a UTF-8 locale, ASCII
for l in 02_tape 04_linear 05_softmax 09_self_attention; do
  LC_ALL=C "$lessons/$l" >out 2>err; LC_ALL=C grep -q '[^ -~]' out && bad "O13 $l is not ASCII under LC_ALL=C" || ok
  "$lessons/$l" --ascii >out 2>err; LC_ALL=C grep -q '[^ -~]' out && bad "$l --ascii" || ok
done
for variable in LC_ALL LC_CTYPE LANG; do  # the first of them that is set decides
  env -u LC_ALL -u LC_CTYPE LANG=C.UTF-8 $variable=C "$lesson" >out 2>err
  [ -s out ] && ! LC_ALL=C grep -q '[^ -~]' out && ok || bad "O13 not ASCII under $variable=C"
done
for l in "$lessons"/[0-9][0-9]_*; do
  [ -f "$l" ] && [ -x "$l" ] || continue
  for option in --help-all --version --no-such-option; do
    LC_ALL=C "$l" $option >out 2>err; LC_ALL=C cat out err | LC_ALL=C grep -q '[^ -~]' && bad "O13 $l $option under LC_ALL=C" || ok
  done
done
LC_ALL=C "$lesson" --text "naïve café" >out 2>err
grep -qF "caf?" out && ! LC_ALL=C grep -q '[^ -~]' out && ok || bad "O13 words under LC_ALL=C"
run --text $'a\x1b[31m b\tc'; grep -q $'\x1b' out && bad "hostile words reach the terminal" || ok

# --html: the page itself is tested in a browser, tests/html
accepts "--html" "wrote page.html" --html page.html
grep -q "<!DOCTYPE html>" page.html && ok || bad "--html writes a page"
accepts "--html -q is the verdict only" "checks ok" --html page.html -q
[ "$(wc -l <out)" -eq 1 ] && ok || bad "--html -q prints more than a line"
[ -z "$(ls ./*.part* 2>/dev/null)" ] && ok || bad "--html leaves a temporary file"
refuses "O15 --html into a folder that is not there" "nowhere/page.html: cannot be written: No such file" --html nowhere/page.html
refuses "O15 --html onto a folder" "it is a folder" --html "$scratch"
refuses "--html without a name" "--html" --html -
accepts "--help mentions --html" "in a browser" --help
for l in "$lessons"/[0-9][0-9]_*; do
  [ -f "$l" ] && [ -x "$l" ] || continue
  case $l in *34_char_gpt|*40_matmul*) continue ;; esac  # slow, and nothing new
  "$l" --html every.html -q >out 2>err && grep -q 'id="extra"' every.html && ok || bad "--html of $l"
done

run --json
if [ $status -eq 0 ]; then
  if command -v python3 >/dev/null; then
    python3 - <<'PY' && ok || bad "--json"
import json
doc = json.load(open("out"))
assert doc["schema"] == 2 and doc["ok"] and doc["lesson"] == "09" and doc["words"][1] == "cat"
lines = {line["name"]: line for line in doc["tape"]}
assert lines["Y"]["shape"] == [6, 3] and len(lines["Y"]["gradient"]) == 6
assert abs(sum(lines["A"]["value"][0]) - 1) < 1e-12 and lines["E"]["source"]["file"] == "tutorials/09_self_attention.cpp"
PY
  fi
else
  bad "--json"
fi
for l in 02_tape 04_linear 05_softmax; do "$lessons/$l" -v >out 2>err && ok || bad "$l -v"; done

printf '%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
