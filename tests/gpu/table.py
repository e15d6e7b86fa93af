"""The lines of bench_gpu and rivals.py as one table: table.py FILE...     (--self-test checks the arithmetic)

A line is KIND,NAME,SHAPE,MILLISECONDS,RATE,UNIT. The kind "ceiling" is what the machine was measured to do at most. A name
that begins with "torch" or "cuBLAS" is a rival's: every other is compared with the rivals of its kind and shape.
"""
import sys


def read(lines):
    for text in lines:
        parts = text.strip().split(",")
        if len(parts) == 6 and not text.startswith("#"):
            kind, name, shape, ms, rate, unit = parts
            yield kind, name, shape, float(ms), float(rate), unit


def is_rival(name):
    return name.startswith(("torch", "cuBLAS"))


def table(lines):
    rows = list(read(lines))
    ceilings = {name: rate for kind, name, _, _, rate, _ in rows if kind == "ceiling"}
    out = ["%-24s %-18s %-28s %10s %10s          %8s  %s" % ("what", "by", "shape", "ms", "rate", "ceiling", "beside")]
    for kind, name, shape, ms, rate, unit in rows:
        top = ceilings.get("copy" if unit == "GB/s" else "product bf16" if kind.endswith("bf16") else "product float")
        share = "%6.1f %%" % (100 * rate / top) if top else ""
        beside = ["%.2f of %s" % (rate / r, n) for k, n, s, _, r, _ in rows if (k, s) == (kind, shape) and is_rival(n) and not is_rival(name)]
        out.append(("%-24s %-18s %-28s %10.3f %10.1f %-8s %9s  %s" % (kind, name, shape, ms, rate, unit, share, ", ".join(beside))).rstrip())
    return out


def self_test():
    made_up = ["ceiling,copy,1,1,4000,GB/s", "softmax,version 2,a,2,3000,GB/s", "softmax,torch,a,1,2000,GB/s", "softmax,torch,b,1,1000,GB/s", "# torch, b: no"]
    got = table(made_up)
    assert len(got) == 5, got
    assert "75.0 %" in got[2] and got[2].endswith("1.50 of torch"), got[2]
    assert got[3].endswith("50.0 %"), got[3]


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        found = []
        for path in sys.argv[1:]:
            with open(path, encoding="utf-8") as f:
                found += f.readlines()
        print("\n".join(table(found)))
        if len(list(read(found))) == 0:
            sys.exit("table.py: no line was measured")
