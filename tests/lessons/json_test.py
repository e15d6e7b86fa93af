#!/usr/bin/env python3
"""Every lesson's --json holds the keys of docs/json.md and no others, every number in full, and nothing that changes from run to run.

    json_test.py FOLDER_OF_THE_LESSONS FOLDER_FOR_THE_DOCUMENTS
"""
import json
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
lessons, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
failures, passed = [], 0


def check(holds, what):
    global passed
    passed += bool(holds)
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def documented():
    keys, part = {}, ""
    for line in (ROOT / "docs/json.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            part = line[3:]
        cell = re.match(r"\| `(\w+)` \|", line)
        if cell:
            keys.setdefault(part, set()).add(cell[1])
    return keys


def run(name, *options):
    done = subprocess.run([lessons / name, "--json", *options], capture_output=True, text=True, encoding="utf-8")
    check(done.returncode == 0 and not done.stderr, f"{name}: exit code {done.returncode} {done.stderr}")
    return done.stdout


def numbers(doc, matrix, shape, where):
    check(len(matrix) == shape[0] and all(len(row) == shape[1] for row in matrix), f"{where}: the shape is {shape}")
    for x in (x for row in matrix for x in row):
        if isinstance(x, str):
            check(x in ("inf", "-inf", "nan"), f"{where}: {x!r}")
        elif doc["precision"] == "f32":
            check(len(repr(float(x)).split("e")[0].replace(".", "").strip("-0")) <= 9, f"{where}: {x!r} has more digits than a float")


def validate(doc, keys, name):
    check(set(doc) == keys["The document"], f"{name}: the document has {set(doc) ^ keys['The document']}")
    check(doc["schema"] == 2 and doc["lesson"] == name[:2] and doc["ok"] is True, f"{name}: schema, lesson, ok")
    n = len(doc["tape"])
    for c in doc["checks"]:
        check(set(c) == keys["A check"] and (c["line"] is None or 0 <= c["line"] < n), f"{name}: check {c}")
    for s in doc["steps"]:
        check(set(s) == keys["A step"] and all(0 <= i < n for i in s["lines"] + s["gradients"]), f"{name}: step {s['name']}")
        for m in s["matrices"]:
            check(set(m) == keys["A matrix"], f"{name}: matrix {m['name']}")
        for c in s["curves"]:
            check(set(c) == keys["A curve"], f"{name}: curve {c['name']}")
    for i, line in enumerate(doc["tape"]):
        where = f"{name}: line %{i}"
        check(set(line) == keys["A line of the tape"] and line["line"] == i, f"{where} has {set(line) ^ keys['A line of the tape']}")
        check(all(j < i for j in line["from"]), f"{where} reads later lines")
        check(set(line["source"]) == {"file", "line"} and (ROOT / line["source"]["file"]).exists(), f"{where}: {line['source']}")
        check(line["view"] is None or set(line["view"]) == {"of", "row", "column"}, f"{where}: {line['view']}")
        numbers(doc, line["value"], line["shape"], where)
        if line["gradient"] is not None:
            numbers(doc, line["gradient"], line["shape"], where)


def agrees(name):  # the gradients of the document are what --why says of them, though other tapes added to the same parameters later
    page = out / f"{name}.html"
    subprocess.run([lessons / name, "-q", "--html", page], check=True, stdout=subprocess.DEVNULL)
    data, extra = (json.loads(re.search(rf'id="{part}">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1]) for part in ("data", "extra"))
    gaps = [abs(data["tape"][int(line)]["gradient"][w["row"]][w["column"]] - w["sum"]) for line, entries in extra["whys"].items() for w in entries]
    check(len(gaps) > 200 and max(gaps) < 1e-10, f"{name}: {len(gaps)} sums of --why, up to {max(gaps, default=0)} from the document's gradients")


keys = documented()
out.mkdir(parents=True, exist_ok=True)
for old in out.glob("*.json"):
    old.unlink()
names = sorted(p.name for p in lessons.glob("[0-9][0-9]_*") if p.is_file() and p.suffix == "")
slow = {"20_training", "34_char_gpt", "40_matmul_kernels"}  # what they print is not on the page's tape
for name in [n for n in names if n not in slow]:
    text = run(name)
    (out / f"{name}.json").write_text(text, encoding="utf-8")
    validate(json.loads(text), keys, name)

if "09_self_attention" in names:  # exactly the numbers that went in, and words that could end a script
    given = [0.1 + 0.2, 1 / 3, 1e-17, -0.0, 5e-324, 12.345678901234567, -2.5, 4 * 0.1, 2 ** 0.5, 7, 0.1, -1e-5]
    (out / "given.csv").write_text("\n".join(",".join(repr(x) for x in given[i:i + 3]) for i in range(0, 12, 3)) + "\n")
    text = run("09_self_attention", "--set", f"W_v={out / 'given.csv'}", "--text", "</script> \"a\\b\" & \u2028")
    doc = json.loads(text)
    w = next(line for line in doc["tape"] if line["name"] == "W_v")
    check([struct.pack("d", x) for row in w["value"] for x in row] == [struct.pack("d", x) for x in given], "the numbers of --set come back bit by bit")
    check(doc["words"][0] == "</script>" and doc["words"][1] == "\"a\\b\"" and "<" not in text and "\u2028" not in text, f"hostile words: {doc['words']}")
    check(run("09_self_attention") == run("09_self_attention"), "the same command gives the same bytes")
for name in sorted({"13_cross_attention", "15_relative_positions", "18_decoder_block", "25_kv_cache"} & set(names)):
    agrees(name)
if "11_masks" in names:
    doc = json.loads((out / "11_masks.json").read_text(encoding="utf-8"))
    check(any("-inf" in row for line in doc["tape"] for row in line["value"]), "a hidden score is \"-inf\"")
print(f"{passed} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
