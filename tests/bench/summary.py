"""Rows that put several cases together: geometric means, shares of the peak, growth."""
from table import Row, exponent, geometric_mean, size_of

PRODUCTS = {  # group: (what it is called, must and aim against OpenBLAS, aim against oneDNN)
    "layers": ("products of layers", 0.95, 1.05, 1.0),
    "small squares": ("squares 64 to 256", 0.9, 1.2, None),
    "squares": ("squares 512 to 2048", None, None, None),
}
VARIANTS = ("NN", "NT", "TN")


def ratios(cases, threads, results, rival):
    """{case: his time by ours}, where both were measured."""
    out = {}
    for case in cases:
        times = results.get((case.name, threads), {})
        ours, his = times.get("glassgrad"), times.get((rival, "-"))
        if ours and his and ours.min and his.min:
            out[case.name] = his.min / ours.min
    return out


def products(cases, threads, results, machine):
    rows = []
    for group, (name, must, aim, aim_onednn) in PRODUCTS.items():
        members = [c for c in cases if c.group == group and c.kind == "product" and (c.name, threads) in results]
        if not members:
            continue
        for rival, m, a in (("OpenBLAS", must, aim), ("oneDNN", None, aim_onednn)):
            found = ratios(members, threads, results, rival)
            rows.append(Row(f"{name}: geometric mean", threads, rival=rival, must=m, aim=a, value=geometric_mean(found.values()) if found else None))
            if rival == "OpenBLAS" and group == "layers":
                for variant in VARIANTS:
                    part = [r for case, r in found.items() if f" {variant} " in case]
                    rows.append(Row(f"{name}: geometric mean of {variant}", threads, rival=rival, value=geometric_mean(part) if part else None))
                worst = min(found, key=found.get) if found else ""
                rows.append(Row(f"{name}: the worst case {worst.replace('product ', '')}".rstrip(), threads, rival=rival, must=0.8, value=found.get(worst)))
        one = threads == 1 and group == "layers"  # the target is for one thread
        timed = [(c, results[c.name, threads]["glassgrad"].min) for c in members]
        share = [c.flops / t / machine.peak[threads] for c, t in timed if t and threads in machine.peak]
        rows.append(Row(f"{name}: share of the peak", threads, must=0.8 if one else None, aim=0.88 if one else None, unit="%",
                        value=geometric_mean(share) if share else None))
    return rows


GROWTH = [  # group, what grows, key of our answer or time, at most so steep
    ("T", "attention: its time grows as T to the power of", "time", 2.1, 2.05),
    ("T", "attention: the memory of its tape grows as T to the power of", "bytes", 1.1, 1.05),
    ("layers of a GPT", "GPT step: its time grows as layers to the power of", "time", 1.1, 1.05),
    ("batch of a GPT", "GPT step: its time grows as batch to the power of", "time", 1.1, 1.05),
]


def growth(cases, threads, results):
    rows = []
    for group, name, key, must, aim in GROWTH:
        points = []
        for case in (c for c in cases if c.group == group):
            ours = results.get((case.name, threads), {}).get("glassgrad")
            value = ours and (ours.min if key == "time" else ours.other.get(key))
            if value:
                points.append((size_of(case), value))
        if len(points) >= 2:
            rows.append(Row(f"{name} ({len(points)} sizes)", threads, must=must, aim=aim, value=exponent(*zip(*points)), at_most=True, unit=" "))
    return rows


def summary(cases, threads, results, machine):
    return products(cases, threads, results, machine) + growth(cases, threads, results)
