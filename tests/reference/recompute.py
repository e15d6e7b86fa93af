#!/usr/bin/env python3
"""Computes a lesson again in NumPy, line by line, from what --json wrote, and names the first line that differs.

    tutorials/run 09 --json > 09.json
    python3 tests/reference/recompute.py 09.json              every value, from the operands that the document holds
    python3 tests/reference/recompute.py --gradients 09.json  also dX, dW, ...: the whole tape again with an entry of a leaf nudged

Exit code: 0 all agree, 1 a line differs, 77 NumPy is not installed. The formulas are in numpy_ops.py; a line whose op is not
there is named and taken as given.
"""
import json
import sys

try:
    import numpy as np
    from numpy_ops import OPS, SHAPED
except ImportError:
    print("recompute.py: NumPy is not installed (Debian: python3-numpy)")
    sys.exit(77)
LEAVES = {"input", "constant", "param", "borrowed"}


def matrix(rows, shape):  # "inf", "-inf" and "nan" are numbers too
    return np.array([[float(x) for x in row] for row in rows]).reshape(shape)


def compute(line, values):  # None: there is no formula for it
    x, d = [values[i] for i in line["from"]], line["details"]
    d = {name: float(f) if isinstance(f, str) else f for name, f in d.items()}
    if line["view"]:
        (r, c), (rows, cols) = (line["view"]["row"], line["view"]["column"]), line["shape"]
        return values[line["view"]["of"]][r:r + rows, c:c + cols]
    if line["op"] in SHAPED:
        return SHAPED[line["op"]](d, *x, line["shape"])
    return OPS[line["op"]](d, *x).reshape(line["shape"]) if line["op"] in OPS and None not in d.values() else None


def gap(got, want):  # as the lessons measure: |got - want| / (1 + max |want|); infinities must be the same ones
    got, want = got.ravel(), want.ravel()
    differ = ~((got == want) | (np.isnan(got) & np.isnan(want)))
    finite = want[np.isfinite(want)]
    worst = np.abs(got - want)[differ] / (1 + np.abs(finite).max(initial=0))
    return np.nan_to_num(worst, nan=np.inf).max(initial=0)


def loss(doc, stored, nudged, value):  # of the whole tape: the seed against the root
    values = list(stored)
    for i, line in enumerate(doc["tape"]):
        fixed = line["op"] in LEAVES or line["op"] == "detach"  # which is a constant on the way back
        again = value if i == nudged else None if fixed else compute(line, values)
        values[i] = stored[i] if again is None else again
    root = doc["tape"][doc["root"]]
    return float((matrix(root["gradient"], root["shape"]) * values[doc["root"]]).sum())


def check_gradients(doc, stored):
    if doc["root"] is None:
        return "no gradients"
    unknown = [l["line"] for l in doc["tape"][:doc["root"] + 1] if l["wants_gradient"] and (l["changed"] or (l["op"] not in LEAVES and compute(l, stored) is None))]
    if unknown:
        return f"gradients not checked, line %{unknown[0]} is taken as given"
    n = 0
    for line in doc["tape"]:
        if line["op"] not in LEAVES or line["gradient"] is None or line["line"] > doc["root"] or line["line"] == doc["root"]:
            continue
        x, g, h = stored[line["line"]], matrix(line["gradient"], line["shape"]), 1e-5
        for at in range(0, x.size, max(1, x.size // 12)):
            up, down = x.copy(), x.copy()
            up.flat[at] += h
            down.flat[at] -= h
            slope = (loss(doc, stored, line["line"], up) - loss(doc, stored, line["line"], down)) / (2 * h)
            if not abs(slope - g.flat[at]) <= (1e-6 if doc["precision"] == "f64" else 1e-3) * (1 + np.abs(g).max()):
                r, c = divmod(at, x.shape[1])
                sys.exit(f"%{line['line']} {line['op']} \"{line['name']}\": d{line['name']}[{r},{c}] is {g.flat[at]:.17g}, but {slope:.9g} by differences")
            n += 1
    return f"{n} entries of gradients agree"


def check(doc):
    tolerance = 1e-12 if doc["precision"] == "f64" else 1e-5
    values, given, n = [], {}, 0
    for line in doc["tape"]:
        want = matrix(line["value"], line["shape"])
        stale = any(doc["tape"][i]["changed"] for i in line["from"])  # its operands are not what it was computed from
        got = compute(line, values) if line["op"] not in LEAVES and not stale else None
        values.append(want)
        if got is None and line["op"] not in LEAVES:
            what = line["op"] + (" (its operand was changed later)" if stale else "")
            given[what] = given.get(what, 0) + 1
        elif got is not None and gap(got, want) > tolerance:
            at = np.unravel_index(np.argmax(np.nan_to_num(np.abs(got - want), nan=np.inf)), want.shape)
            sys.exit(f"%{line['line']} {line['op']} \"{line['name']}\" at {line['source']['file']}:{line['source']['line']} is the first that differs: "
                     f"[{at[0]},{at[1]}] is {want[at]:.17g}, but {got[at]:.17g} here")
        else:
            n += got is not None
    return f"{n} lines agree" + "".join(f", {k} of {op} taken as given" for op, k in given.items()), values


if __name__ == "__main__":
    for path in [a for a in sys.argv[1:] if not a.startswith("--")]:
        with open(path, encoding="utf-8") as file, np.errstate(all="ignore"):
            document = json.load(file)
            said, numbers = check(document)
            print(f"{document['lesson']}: {said}" + (f"; {check_gradients(document, numbers)}" if "--gradients" in sys.argv else ""))
