#!/usr/bin/env python3
"""recompute.py agrees with every lesson, and names the line where a wrong number was planted. Skips (77) if no python3 has NumPy.

    recompute_test.py FOLDER_OF_THE_DOCUMENTS   as json_test.py left them
"""
import copy
import json
import os
import pathlib
import subprocess
import sys

documents = pathlib.Path(sys.argv[1])
script = pathlib.Path(__file__).with_name("recompute.py")


def python_with_numpy():  # the first python3 may be one without packages, before the system's own
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin", "/usr/local/bin"]
    for python in [sys.executable, *(os.path.join(f, "python3") for f in folders)]:
        if os.path.exists(python) and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    print("no python3 here has NumPy (Debian: python3-numpy)")
    sys.exit(77)


if "--with-numpy" not in sys.argv:
    sys.exit(subprocess.run([python_with_numpy(), __file__, str(documents), "--with-numpy"]).returncode)
sys.argv[1:] = []
import numpy as np  # noqa: E402: only now is it known to be there

import recompute  # noqa: E402


def verdict(doc, gradients=False):  # what recompute.py says, and whether it agrees
    with np.errstate(all="ignore"):
        try:
            said, stored = recompute.check(doc)
            return True, said + ("; " + recompute.check_gradients(doc, stored) if gradients else "")
        except SystemExit as found:
            return False, str(found)


failures = 0


def expect(holds, what):
    global failures
    failures += not holds
    if not holds:
        print("FAILED:", what)


every = {p.stem: json.loads(p.read_text(encoding="utf-8")) for p in sorted(documents.glob("[0-9]*.json"))}
expect(len(every) > 30 or "09_self_attention" in every, "there are documents")
for name, doc in every.items():
    agrees, said = verdict(doc, gradients=os.path.getsize(documents / f"{name}.json") < 2000000)
    print(f"{name}: {said}")
    expect(agrees, name)
    swept = doc["tape"][:(doc["root"] or -1) + 1]
    expect(not any(doc["tape"][i]["changed"] for line in swept for i in line["from"]), f"{name}: every line of the sweep goes with its operands")

# It goes red: a number planted in a line is found there, and not before.
planted = 0
for name in [n for n in ("05_softmax", "09_self_attention", "12_multi_head", "17_encoder_block") if n in every]:
    for i, line in enumerate(every[name]["tape"]):
        if line["op"] in recompute.LEAVES or line["op"] == "detach" or not line["value"] or line["view"]:
            continue
        doc = copy.deepcopy(every[name])
        row = doc["tape"][i]["value"][-1]
        row[-1] = float(row[-1]) + 1e-9 if np.isfinite(float(row[-1])) else 0.5
        agrees, said = verdict(doc)
        expect(not agrees and said.startswith(f"%{i} {line['op']} "), f"a wrong number in %{i} of {name} is not found there: {said}")
        planted += 1
for name, matrix in (("09_self_attention", "W_k"), ("13_cross_attention", "W_k"), ("09_self_attention", "X")):
    if name in every:
        doc = copy.deepcopy(every[name])
        line = next(l for l in doc["tape"] if l["name"] == matrix and l["gradient"])
        line["gradient"][0][0] += 1e-4
        agrees, said = verdict(doc, gradients=True)
        expect(not agrees and f"d{matrix}[0,0]" in said, f"a wrong d{matrix} of {name} is not found: {said}")
        planted += 1
print(f"{len(every)} documents, {planted} wrong numbers planted, {failures} failed")
sys.exit(1 if failures or not planted else 0)
