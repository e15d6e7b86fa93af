"""From times to rows, verdicts and the table."""
import math
import re
import statistics
from dataclasses import dataclass

SLACK = 0.15  # a gate sits so far under the target: what a busy neighbour may take
QUOTED_THREADS = 2  # those of the quoted times
LONGEST_L2, LONGEST_L3 = 2e6, 64e6  # bytes, the first for each thread: which bandwidth bounds a case


class Times:
    """What one side answered, turn by turn: the minimum of all, the median of the turns."""

    def __init__(self):
        self.minima, self.medians, self.n, self.other, self.none = [], [], 0, {}, None

    def add(self, answer):
        if "none" in answer:
            self.none = answer["none"]
            return
        self.minima.append(answer["min"])
        self.medians.append(answer["median"])
        self.n += answer["n"]
        for key in answer.keys() - {"n", "min", "median"}:  # the calmest turn
            self.other[key] = max(answer[key], self.other.get(key, 0)) if key == "error" else min(answer[key], self.other.get(key, math.inf))

    @property
    def min(self):
        return min(self.minima) if self.minima else None

    @property
    def median(self):
        return statistics.median(self.medians) if self.medians else None


class Machine:
    """Peak and bandwidth for each number of threads, as measured in this run: the best that was seen."""

    def __init__(self):
        self.peak, self.usual_peak, self.bandwidth = {}, {}, {}

    def floor(self, case, threads):
        """Seconds that the arithmetic, or the memory, takes at least."""
        level = "L2" if case.bytes < LONGEST_L2 * threads else "L3" if case.bytes < LONGEST_L3 else "DRAM"
        return max(case.flops / self.peak[threads] if threads in self.peak else 0, case.bytes / self.bandwidth.get((threads, level), math.inf))


@dataclass
class Row:
    case: str
    threads: int
    ours: Times = None
    rival: str = ""
    his: Times = None
    floor: float = None     # our time by the floor
    must: float = None
    aim: float = None
    value: float = None     # what the targets are about: a ratio, unless there is a unit
    at_most: bool = False
    unit: str = ""
    gated: bool = True
    wrong: str = ""

    def reaches(self, target, slack=0.0):
        return self.value <= target * (1 + slack) if self.at_most else self.value >= target * (1 - slack)

    @property
    def verdict(self):
        if self.wrong:
            return self.wrong
        if self.value is None:
            return "not measured" if self.must is not None or self.aim is not None else ""
        if self.must is not None and not self.reaches(self.must):
            return "close" if self.reaches(self.must, SLACK) else "MISSED"
        if self.aim is not None:
            return "aim" if self.reaches(self.aim) else "must" if self.must is not None else "below the aim"
        return "must" if self.must is not None else ""

    @property
    def fails(self):
        """Does the gate close? A must that is missed by more than the slack, or a wrong result."""
        return bool(self.wrong) or (self.gated and self.verdict == "MISSED")


def wrong_result(case, times):
    """A product is checked on 64 entries against double: sums of K rounded products of numbers below 1."""
    error = times.other.get("error", 0)
    return f"WRONG by {error:.1e}" if case.kind == "product" and not error <= 1e-5 * math.sqrt(case.size[1]) + 1e-4 else ""


def rows_of(case, threads, times, machine, same_machine):
    """times: {"glassgrad": Times, (rival, variant): Times}."""
    ours = times["glassgrad"]
    floor = machine.floor(case, threads)
    rows = []
    for rival in [r for r in case.rivals if not r.seconds or threads == QUOTED_THREADS] or [None]:
        row = Row(case.name, threads)
        if not rows:
            row.ours, row.floor, row.wrong = ours, ours.min / floor if ours.min and floor else None, wrong_result(case, ours)
        if rival:
            row.must, row.aim = rival.must, rival.aim
            row.rival = rival.side + ("" if rival.variant == "-" else " " + rival.variant)
            row.his = times.get((rival.side, rival.variant))
            if rival.seconds:  # holds for the processor that it was measured on
                row.his, row.gated = Times(), same_machine
                row.his.add({"n": 1, "min": rival.seconds, "median": rival.seconds})
            if row.his and row.his.min and ours.min:
                row.value = row.his.min / ours.min
        rows.append(row)
    for f in case.figures:
        value = {"floor": ours.min / floor if ours.min and floor else None, "ns": ours.min * 1e9 if ours.min else None}.get(f.key, ours.other.get(f.key))
        if f.key == "extra" and value is not None:
            value /= ours.other["square"] * case.size[1]
        rows.append(Row(f"{case.name}: {f.name}", threads, must=f.must, aim=f.aim, value=value, at_most=True, unit=f.unit or " "))
    return rows


def time_text(seconds):
    if seconds is None:
        return ""
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def number(x, unit=""):
    return "" if x is None else f"{x * 100:.0f} %" if unit == "%" else f"{x:.3g}" + ("" if not unit.strip() else " " + unit)


HEAD = ["case", "threads", "ours, min", "median", "rival", "his min", "median", "x floor", "must", "aim", "ratio", ""]


def cells(row, rounds):
    """rounds: how many turns there should have been; fewer are said."""
    sign = "≤ " if row.at_most else "≥ "
    his, ours = row.his or Times(), row.ours or Times()
    return [row.case, str(row.threads), time_text(ours.min), time_text(ours.median), row.rival, time_text(his.min), time_text(his.median),
            "" if row.floor is None else f"{row.floor:.2f}", "" if row.must is None else sign + number(row.must, row.unit),
            "" if row.aim is None else sign + number(row.aim, row.unit), number(row.value, row.unit),
            row.verdict + (f" ({len(ours.minima)} turns)" if 0 < len(ours.minima) < rounds else "")]


def table(rows, rounds=1):
    """Lines of Markdown, with columns of one width so that a terminal shows them too."""
    lines = [HEAD] + [cells(r, rounds) for r in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    left = (0, 4, 11)
    text = ["| " + " | ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (w + 1) + ("-" if i in left else ":") for i, w in enumerate(widths)) + "|")
    return text


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def exponent(sizes, values):
    """b of the best line ln value = a + b ln size: 1 is linear, 2 quadratic."""
    x, y = [math.log(s) for s in sizes], [math.log(v) for v in values]
    mx, my = statistics.fmean(x), statistics.fmean(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def size_of(case):
    return int(re.findall(r"\d+", case.title)[-1])
