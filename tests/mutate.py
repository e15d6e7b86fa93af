#!/usr/bin/env python3
"""Does any test notice? Changes one formula of engine/ops, engine/cpu or engine/functions.h at a time, in a copy, and
runs the f64 tests on it. A change that they let pass is a hole in the tests, unless it changes nothing.

    tests/mutate.py                                 every mutant (0.5 s each on two cores, after a minute of building)
    tests/mutate.py --sample 70                     seventy of them, the same seventy every time
    tests/mutate.py --only engine/ops/softmax.cpp   those of one file; may be repeated
    tests/mutate.py --list                          shows them and runs nothing

Exits with 1 if the score, noticed / (noticed + survived), is below --minimum. tests/mutants_known.txt explains survivors
that no test can notice; they do not count. Needs no package, and what tests/run needs.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ("engine/functions.h", "engine/ops/*.cpp", "engine/cpu/*.cpp")
SKIPPED_TEST = "~*at most three times as long"  # measures time, and mutants run side by side
NOTICED, TIMED_OUT, SURVIVED, EXPLAINED, NO_CODE = "noticed", "timed out", "survived", "explained", "did not compile"

# ---- what is changed

ITEM = r"[\w.:]*\w(?:\[\w+\])?(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\{\})?"  # a name, a number, a call: f(x(i, j))
MATHS = "exp|expm1|log|log1p|tanh|sqrt|sin|cos|cosh|erf|erfc|fabs|abs|isnan|isinf|pow|min|max|fmin|fmax"
CHANGES = [  # a pattern, and what may stand in its place
    (r"(?<= )\+(?= )", ["-"]), (r"(?<= )-(?= )", ["+"]), (r"(?<= )\*(?= )", ["/"]), (r"(?<= )/(?= )", ["*"]),
    (r"\+=", ["=", "-="]), (r"-=", ["=", "+="]), (r"\*=", ["=", "/="]), (r"/=", ["=", "*="]),
    (r"(?<= )<(?= )", ["<="]), (r"(?<!; \w )(?<= )<(?= )", [">"]), (r"(?<= )<=(?= )", ["<", ">"]),
    (r"(?<= )>(?= )", [">=", "<"]), (r"(?<= )>=(?= )", [">", "<"]),
    (r"==", ["!="]), (r"!=", ["=="]), (r"&&", ["||"]), (r"\|\|", ["&&"]), (r"!(?=[\w(])", [""]),
    (r"(?<=[([])-(?=[\w(])|(?<=[,=?:] )-(?=[\w(])|(?<=return )-(?=[\w(])", [""]),
    (r"(?<![\w.\[])0(?![\w.])", ["1"]), (r"(?<![\w.\[])1(?![\w.])", ["0"]),
    (r"(?<![\w.\[])(\d+\.\d+|[2-9]|\d\d+)(?![\w.])", [r"(\1 + 1)"]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"Product::NN", ["Product::NT", "Product::TN"]), (r"Product::NT", ["Product::NN", "Product::TN"]),
    (r"Product::TN", ["Product::NN", "Product::NT"]),
    (r"\bx\[\w\]", ["x[0]", "x[1]", "x[2]"]), (r"\bdx\[\w\]", ["dx[0]", "dx[1]", "dx[2]"]),
    (r"(?<=\.)rows\b", ["cols"]), (r"(?<=\.)cols\b", ["rows"]),
    (r"(?<=\.)(\w*)row(\w*)(?=\()", [r"\1col\2"]), (r"(?<=\.)(\w*)col(\w*)(?=\()", [r"\1row\2"]),
    (r"(?<=\w)\((\w|ids\.data\[\w\]), (\w|ids\.data\[\w\])\)", [r"(\2, \1)"]),
    (rf" [-+*/] {ITEM}", [""]), (rf"{ITEM} \* (?=[\w(-])", [""]), (r"\bfactor\b(?=[,)])", ["1"]),
    (rf"\bstd::(?:{MATHS})(?=\()", [""]),
    (rf"\? ({ITEM}) : ({ITEM})", [r"? \2 : \1"]),
    (rf"(?<=; )(\w+ <=? {ITEM})(?=; )", [r"\1 - 1"]),
]
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#[^\n]*', re.S | re.M)
# A message is not a formula, and the precision is that of the whole executable.
MESSAGE = re.compile(r"(?<=\bshape_error)\(|(?<=TapeError)\(|(?<=ShapeError)\(|GLASS_PRECISION|\boperator\b.*")
FUNCTION = re.compile(r"^(?! *(?:else|if|for|while|switch|return|struct)\b)[^\n;{}#/]*?\b(\w+)\([^;{}]*\)(?: const| override)* \{",
                      re.M)
HEADER = re.compile(r"\s*(?:(?:if|for|while|switch) \(|else\b|case [\w:]+: |default: )")

Mutant = collections.namedtuple("Mutant", "file function line before after text")


def closing(text, start):
    """The place after the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i + 1
    return len(text)


def blanked(text):
    """The same length and lines, with blanks where nothing is to be changed."""
    def blank(start, end):
        return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    for m in NOT_CODE.finditer(text):
        text = blank(*m.span())
    for m in FUNCTION.finditer(text):
        if m[1] == "shape_error":  # it writes the message
            text = blank(m.start(), closing(text, m.end() - 1))
    for m in MESSAGE.finditer(text):
        text = blank(m.start(), closing(text, m.start()) if m[0] == "(" else m.end())
    return text


def statements(code):
    """(start, end) of what may be left out: a call, an assignment, a return; without the `if` or `for` before it."""
    start = depth = 0
    for i, c in enumerate(code):
        depth += (c in "([") - (c in ")]")
        if depth or c not in ";{}":
            continue
        guarded = False
        if c == ";":
            while m := HEADER.match(code, start):
                start = closing(code, m.end() - 1) if m[0].endswith("(") else m.end()
                guarded = True
            start += len(code[start:i]) - len(code[start:i].lstrip())
            text = code[start:i]
            declares = re.match(r"(?:\w+ )*[\w:&*<>]+[ &*]+\w+(?:$| =|,|\{)|using |friend ", text)
            if guarded if text.startswith("return") else text and not declares:  # a last return must stay
                yield start, i
        start = i + 1


def mutants_of(file):
    text = (ROOT / file).read_text()
    code = blanked(text)
    functions = [(m.end(), m[1]) for m in FUNCTION.finditer(code)]
    edits = [(start, end, "") for start, end in statements(code)]
    for m in re.finditer(r"(?<=\bif )\(", code):
        end = closing(code, m.start())
        edits += [(m.start(), end, "(true)")] + [(m.start(), end, "(false)")] * code.startswith(" {", end)
    for pattern, replacements in CHANGES:
        for m in re.finditer(pattern, code):
            for new in map(m.expand, replacements):
                operand = re.fullmatch(r"d?x\[\d\]", new)  # only one that the op has
                if text[m.start():m.end()] == m[0] and not (operand and new not in code):
                    edits.append((*m.span(), new))
    seen = {text}
    for start, end, new in sorted(edits):
        changed = text[:start] + new + text[end:]
        if changed in seen:
            continue
        seen.add(changed)
        first = text.rfind("\n", 0, start) + 1
        after = changed[first:changed.index("\n", start + len(new))]
        function = ([name for at, name in functions if at <= start] or ["?"])[-1]
        yield Mutant(file, function, text.count("\n", 0, start) + 1, line_of(text[first:text.index("\n", end)]),
                     line_of(after), changed)


def line_of(text):
    return " ".join(re.sub(r"//.*", "", text).split())


# ---- building and running

class Workshop:
    """A copy of the tree, built once. A mutant is compiled beside it and linked before the library, which then is not
    asked for the object that the mutant replaces: one compilation, one link."""

    def __init__(self, folder):
        self.folder, self.tree, self.build = folder, folder / "tree", folder / "build"
        shutil.rmtree(self.tree, ignore_errors=True)
        shutil.copytree(ROOT, self.tree, ignore=shutil.ignore_patterns(".git", "build", "__pycache__"))
        linker = next((f"-fuse-ld={name}" for name in ("lld", "gold") if shutil.which("ld." + name)), "")
        self.must("cmake", "-G", "Unix Makefiles", "-S", self.tree, "-B", self.build, "-DCMAKE_BUILD_TYPE=None",
                  "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",  # else a mutant of a header would not be seen
                  "-DCMAKE_CXX_FLAGS=-O0 -Werror=return-type", f"-DCMAKE_EXE_LINKER_FLAGS={linker}")
        self.must("cmake", "--build", self.build, "--target", "tests_f64", "-j2")
        self.compilation = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            if "glass_f64" in entry["command"]:
                self.compilation[pathlib.Path(entry["file"]).relative_to(self.tree).as_posix()] = shlex.split(entry["command"])
        self.link = shlex.split((self.build / "tests/CMakeFiles/tests_f64.dir/link.txt").read_text())
        start = time.time()
        outcome, where = self.test(self.build / "tests/tests_f64", 600)
        if outcome != SURVIVED:
            sys.exit(f"mutate.py: the tests fail on the code as it is, at {where}")
        self.limit = 20 + 10 * (time.time() - start)

    @staticmethod
    def must(*command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(done.stdout[-3000:] + "\nmutate.py: the copy could not be built")

    def units(self, file):
        """What to compile again. Of a header: the sources that call its functions; they are inline, so its new words
        are linked first and hold for all."""
        if file.endswith(".cpp"):
            return [file]
        calls = re.compile(rf"(?<![.>\w])(?:{'|'.join(m[1] for m in FUNCTION.finditer((self.tree / file).read_text()))})\(")
        return [unit for unit in self.compilation if calls.search((self.tree / unit).read_text())]

    def run(self, mutant):
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            place, objects = pathlib.Path(place), []
            (place / mutant.file).parent.mkdir(parents=True)
            (place / mutant.file).write_text(mutant.text)
            for i, unit in enumerate(self.units(mutant.file)):
                command = list(self.compilation[unit])
                objects.append(str(place / f"{i}.o"))
                command[command.index("-o") + 1] = objects[-1]
                command[-1] = str((place if (place / unit).exists() else self.tree) / unit)
                if not self.quiet([command[0], f"-I{place}", *command[1:]], self.build):
                    return NO_CODE, ""
            link, program = list(self.link), place / "tests"
            link[link.index("-o") + 1] = program
            link[1:1] = objects  # the first of several inline definitions is the one that holds
            if not self.quiet(link, self.build / "tests"):
                return NO_CODE, ""
            return self.test(program, self.limit)

    @staticmethod
    def quiet(command, folder):
        return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    @staticmethod
    def test(program, limit):
        with tempfile.TemporaryDirectory(dir=program.parent) as own:  # for the files that tests write
            try:
                done = subprocess.run([program, "-a", SKIPPED_TEST], cwd=own, env={"TMPDIR": own, "LC_ALL": "C.UTF-8"},
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=limit)
            except subprocess.TimeoutExpired:
                return TIMED_OUT, ""
        failed = re.search(rb"(tests/\S+:\d+): FAILED", done.stdout)
        return (NOTICED, failed[1].decode() if failed else "a crash") if done.returncode else (SURVIVED, "")


# ---- the known survivors: "engine/cpu/softmax.cpp softmax_rows: the changed line  ## the reason"; ... is anything

def known_of(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")] if path.exists() else []
    return [re.fullmatch(r"(.*?) +## +(.+)", line).groups() for line in lines]


def entry_for(m, known):
    """The entry that explains this mutant, or None."""
    key = f"{m.file} {m.function}: {m.after}"
    return next((e for e in known if re.fullmatch(re.escape(e[0]).replace(re.escape("..."), ".*"), key)), None)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sample", type=int, metavar="N", help="as many, chosen by --seed (default: all)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", action="append", metavar="FILE")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--list", action="store_true")
    options.add_argument("--report", type=pathlib.Path, metavar="FILE", help="every mutant, its end, and where it was noticed")
    options.add_argument("--minimum", type=float, default=95, metavar="PERCENT")
    options.add_argument("--known", type=pathlib.Path, default=ROOT / "tests/mutants_known.txt", metavar="FILE")
    options.add_argument("--folder", type=pathlib.Path, help="keeps the copy and its build for the next run")
    args = options.parse_args()

    files = sorted(p.relative_to(ROOT).as_posix() for pattern in SOURCES for p in ROOT.glob(pattern)
                   if p.suffix == ".h" or "GLASS_PRECISION" in p.read_text())  # without: threads and memory, no formulas
    if unknown := set(args.only or ()) - set(files):
        sys.exit(f"mutate.py: no source of formulas: {', '.join(sorted(unknown))}")
    everything = [m for file in files for m in mutants_of(file)]
    known = known_of(args.known)
    outdated = set(known) - {entry_for(m, known) for m in everything}
    chosen = [m for m in everything if not args.only or m.file in args.only]
    if args.sample is not None and args.sample < len(chosen):
        chosen = [chosen[k] for k in sorted(random.Random(args.seed).sample(range(len(chosen)), args.sample))]
    if args.list:
        for m in chosen:
            print(f"{m.file}:{m.line} {m.function}\n  - {m.before}\n  + {m.after}")
        print(f"{len(chosen)} mutants")
        return 0

    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # a loop without end may also take memory
    with tempfile.TemporaryDirectory(prefix="mutate.") as temporary:
        print("building a copy ...", end="", file=sys.stderr, flush=True)
        shop = Workshop((args.folder or pathlib.Path(temporary)).resolve())
        start, counts, results, used = time.time(), collections.Counter(), [], {}
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for m, (outcome, where) in zip(chosen, pool.map(shop.run, chosen)):
                entry = entry_for(m, known)
                if entry and outcome != NO_CODE:
                    used[entry] = used.get(entry, False) or outcome == SURVIVED
                if entry and outcome == SURVIVED:
                    outcome = EXPLAINED
                results.append((m, outcome, where))
                counts[outcome] += 1
                if outcome in (SURVIVED, EXPLAINED):
                    print(file=sys.stderr)
                    print(f"{outcome}: {m.file}:{m.line} {m.function}\n  - {m.before}\n  + {m.after}"
                          + (f"\n  {entry[1]}" if entry else ""), flush=True)
                print(f"\r{len(results)} of {len(chosen)}, {counts[SURVIVED]} survived, {time.time() - start:.0f} s   ",
                      end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)

    for entry in known:
        judged = "..." not in entry[0] or len(chosen) == len(everything)  # a sample may miss the survivors of many
        if entry in outdated or judged and not used.get(entry, True):
            why = "no mutant is like it any more" if entry in outdated else "a test notices it after all"
            print(f"{args.known.name}: {why}: {entry[0]}")
    if args.report:
        args.report.write_text("".join(f"{outcome}\t{m.file}:{m.line}\t{m.function}\t{m.before}\t{m.after}\t{where}\n"
                                       for m, outcome, where in results))
    noticed = counts[NOTICED] + counts[TIMED_OUT]
    score = 100 * noticed / max(1, noticed + counts[SURVIVED])
    print(f"{len(results)} mutants of {len(everything)}: {counts[NOTICED]} noticed, {counts[TIMED_OUT]} timed out, "
          f"{counts[SURVIVED]} survived, {counts[EXPLAINED]} explained, {counts[NO_CODE]} did not compile\n"
          f"score {score:.1f} of 100, the minimum is {args.minimum:g}")
    return 0 if score >= args.minimum else 1


if __name__ == "__main__":
    sys.exit(main())
