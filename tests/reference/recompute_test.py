#!/usr/bin/env python3
"""recompute.py agrees with every lesson, and names the line where a wrong number was planted. Skips (77) without NumPy.

    recompute_test.py FOLDER_OF_THE_DOCUMENTS   as json_test.py left them
"""
import json
import pathlib
import subprocess
import sys

documents = pathlib.Path(sys.argv[1])
script = pathlib.Path(__file__).with_name("recompute.py")


def recompute(*arguments):
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)


every = recompute(*sorted(documents.glob("[0-9]*.json")))
print(every.stdout, every.stderr, sep="")
if every.returncode:
    sys.exit(every.returncode)
shared = {"13", "15", "18", "19", "25"}  # other tapes of these lessons add to the gradients of the same parameters
small = [p for p in sorted(documents.glob("[0-9]*.json")) if p.stat().st_size < 60000 and p.name[:2] not in shared]
gradients = recompute("--gradients", *small)
print(gradients.stdout, gradients.stderr, sep="")
if gradients.returncode:
    sys.exit(1)

first = documents / "09_self_attention.json"
planted = documents / "planted.json"
for name, key, wrong, options, said in [("A", "value", 1e-6, [], '%9 softmax "A" at tutorials/09_self_attention.cpp'),
                                        ("Q", "value", 1e-9, [], '%4 matmul "Q"'),
                                        ("W_k", "gradient", 1e-4, ["--gradients"], 'dW_k[')]:
    doc = json.loads(first.read_text(encoding="utf-8"))
    line = next(l for l in doc["tape"] if l["name"] == name)
    line[key][0][0] += wrong
    planted.write_text(json.dumps(doc), encoding="utf-8")
    found = recompute(*options, planted)
    if found.returncode != 1 or said not in found.stderr:
        sys.exit(f"a wrong {key} of {name} is not found: {found.stdout}{found.stderr}")
    print("planted:", found.stderr.strip())
