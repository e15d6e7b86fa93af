"""The arithmetic of the table and of the gate, on invented times: tests/bench/run --self-test."""
import contextlib
import importlib.machinery
import importlib.util
import io
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import cases as catalogue
import sides as programs
import summary
from table import Machine, Row, Times, exponent, geometric_mean, rows_of, table, time_text

loader = importlib.machinery.SourceFileLoader("bench_run", str(HERE / "run"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
loader.exec_module(bench)


def times(*minima, **other):
    t = Times()
    for m in minima:
        t.add({"n": 5, "min": m, "median": 1.1 * m, **other})
    return t


def machine():
    m = Machine()
    m.peak = {1: 1e11, 2: 2e11}
    m.bandwidth = {(2, "L2"): 2e11, (2, "L3"): 5e10, (2, "DRAM"): 3e10}
    return m


class Fake:
    """A side that answers from a list."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def ask(self, threads, seconds, case, variant):
        if case.kind == "peak":
            return {"n": 1, "min": 1e-4, "median": 2e-4, "flops": 2e7}
        self.asked.append((threads, case.kind, variant))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def case(name):
    return next(c for c in catalogue.all_cases() if c.name == name)


def gate(rows, *words):
    """(exit status, what was printed)"""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = bench.report(bench.options([*words]), rows, ["a machine"])
    return status, out.getvalue()


class Table(unittest.TestCase):
    def test_the_minimum_of_all_turns_and_the_median_of_their_medians(self):
        t = times(3, 1, 2)
        self.assertEqual((t.min, t.n), (1, 15))
        self.assertAlmostEqual(t.median, 2.2)

    def test_verdicts(self):
        for value, verdict in ((2.0, "aim"), (1.5, "must"), (1.28, "close"), (1.27, "MISSED"), (None, "not measured")):
            self.assertEqual(Row("c", 2, must=1.5, aim=1.9, value=value).verdict, verdict)
        for value, verdict in ((50, "aim"), (150, "must"), (170, "close"), (173, "MISSED")):
            self.assertEqual(Row("c", 2, must=150, aim=60, value=value, at_most=True).verdict, verdict)
        self.assertEqual(Row("heap", 2, must=0, value=0, at_most=True).verdict, "must")
        self.assertEqual(Row("heap", 2, must=0, value=0.5, at_most=True).verdict, "MISSED")
        self.assertEqual(Row("only an aim", 2, aim=2, value=1).verdict, "below the aim")
        self.assertFalse(Row("only an aim", 2, aim=2, value=1).fails)

    def test_the_ratio_is_his_minimum_by_ours_and_the_floor_is_the_higher_of_the_two(self):
        c = case("softmax forward 6144x256")
        rows = rows_of(c, 2, {"glassgrad": times(1e-3, 5e-4), ("torch 1.13", "-"): times(1e-3, 2e-3)}, machine(), False)
        self.assertEqual(rows[0].value, 2)
        self.assertEqual(rows[0].verdict, "aim")
        self.assertAlmostEqual(rows[0].floor, 5e-4 / (c.bytes / 5e10))  # 12.6 MB: from the third cache
        self.assertEqual((rows[1].rival, rows[1].value, rows[1].verdict), ("torch", None, ""))  # reported, no target

    def test_quoted_times_only_gate_on_their_own_machine(self):
        c = case("tiny GPT step L4 d64 h4 T64 B16 V65")
        for same in (True, False):
            quoted = [r for r in rows_of(c, 2, {"glassgrad": times(0.1, heap=0, faults=0)}, machine(), same) if r.rival.startswith("llm.c f1e2ace")]
            self.assertEqual([r.verdict for r in quoted], ["MISSED"])
            self.assertEqual(quoted[0].fails, same)

    def test_a_wrong_product_closes_the_gate(self):
        c = case("product NN 64x64x64")
        rows = rows_of(c, 2, {"glassgrad": times(1e-6, error=0.5), ("OpenBLAS", "-"): times(1e-5, error=0)}, machine(), False)
        self.assertTrue(rows[0].fails)
        self.assertEqual(gate(rows, "--gate")[0], 1)

    def test_means_and_exponents(self):
        self.assertAlmostEqual(geometric_mean([1, 4]), 2)
        self.assertAlmostEqual(exponent([1, 2, 4, 8], [3, 12, 48, 192]), 2)
        results = {(c.name, 2): {"glassgrad": times(2e-3), ("OpenBLAS", "-"): times(1e-3)} for c in catalogue.all_cases() if c.kind == "product"}
        rows = {(r.case, r.rival): r for r in summary.summary(catalogue.all_cases(), 2, results, machine())}
        self.assertAlmostEqual(rows["squares 64 to 256: geometric mean", "OpenBLAS"].value, 0.5)
        self.assertTrue(any(r.fails for r in rows.values()))

    def test_growth_is_fitted_over_four_sizes(self):
        results = {(c.name, 2): {"glassgrad": times(1e-9 * c.size[2] ** 2, bytes=c.size[2] * 1000)} for c in catalogue.all_cases() if c.group == "T"}
        time_row, memory_row = summary.growth(catalogue.all_cases(), 2, results)
        self.assertAlmostEqual(time_row.value, 2)
        self.assertAlmostEqual(memory_row.value, 1)
        self.assertIn("(4 sizes)", time_row.case)

    def test_text(self):
        self.assertEqual([time_text(t) for t in (2.5, 0.0125, 3.2e-6, 5e-8, None)], ["2.5 s", "12.5 ms", "3.2 us", "50 ns", ""])
        lines = table([Row("a", 1, must=1, value=2), Row("a long name", 2)])
        self.assertEqual(len({len(line) for line in lines}), 1)


class Gate(unittest.TestCase):
    def test_exit_codes(self):
        held, missed, unmeasured = (Row("c", 2, rival="OpenBLAS", must=1, value=v) for v in (0.9, 0.8, None))
        self.assertEqual(gate([held], "--gate")[0], 0)
        self.assertEqual(gate([held, missed], "--gate")[0], 1)
        self.assertEqual(gate([held, missed])[0], 0)  # without --gate it is a report
        status, text = gate([unmeasured], "--gate")
        self.assertEqual(status, 0)
        self.assertIn("1 targets were not measured", text)

    def test_sides_take_turns_and_the_better_build_counts(self):
        ours, pthread, openmp = Fake({"n": 1, "min": 2.0, "median": 2.0}), Fake({"n": 1, "min": 3.0, "median": 3.0}), Fake({"n": 1, "min": 1.0, "median": 1.0})
        found = {}
        bench.measure(case("product NT 64x64x64"), 1, {"glassgrad": [ours], "OpenBLAS": [pthread, openmp]}, bench.options([]), machine(), found)
        self.assertEqual(len(ours.asked), 7)
        self.assertEqual(ours.asked, pthread.asked)
        self.assertEqual(pthread.asked[0], (1, "product", "NT"))
        self.assertEqual(found["OpenBLAS", "-"].min, 1.0)
        self.assertNotIn(("oneDNN", "-"), found)

    def test_a_side_that_cannot_do_a_case_is_asked_once(self):
        ours, his = Fake({"n": 1, "min": 2.0, "median": 2.0}), Fake({"none": "not part of this version"})
        found = {}
        bench.measure(case("gelu 2048x1536"), 1, {"glassgrad": [ours], "torch": [his]}, bench.options([]), machine(), found)
        self.assertEqual(len(his.asked), 1)
        self.assertEqual(rows_of(case("gelu 2048x1536"), 1, found, machine(), False)[1].value, None)

    def test_a_missing_rival_is_named_with_its_package(self):
        with tempfile.TemporaryDirectory() as folder:
            for program, script in (("bench_glass", "echo '{\"version\": \"fake\"}'; cat >/dev/null"), ("bench_blas", "echo no library >&2; exit 2")):
                path = Path(folder) / program
                path.write_text(f"#!/bin/sh\n{script}\n")
                path.chmod(0o755)
            wanted = ["OpenBLAS", "oneDNN", "torch 1.13", "torch"]
            sides, notes = programs.start(Path(folder), Path(folder), 1, ["/nowhere/python"], wanted)  # and no pytorch.py
            sides["glassgrad"][0].stop()
        self.assertEqual(list(sides), ["glassgrad"])
        for package in ("libopenblas0-pthread", "libdnnl2", "python3-torch", "pip install torch"):
            self.assertEqual(sum(package in note for note in notes), 1, package)

    def test_every_name_is_there_once(self):
        names = [c.name for c in catalogue.all_cases()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main(verbosity=1)
