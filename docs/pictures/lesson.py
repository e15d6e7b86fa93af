"""A lesson's own numbers: its coloured text, or its document (--json)."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(name, *options):
    programs = [ROOT / "build" / preset / "tutorials" / name for preset in ("release", "test", "debug")]
    programs = sorted((p for p in programs if p.exists()), key=lambda p: p.stat().st_mtime)
    if not programs:
        sys.exit(f"{name} is not built")
    return subprocess.run([programs[-1], *options], check=True, capture_output=True, text=True, encoding="utf-8", env={"LC_ALL": "C.UTF-8"}).stdout  # the one built last


class Lesson:
    """Lines of its tape by name: the first of that name; what a lesson compares it with comes later."""

    def __init__(self, name, *options):
        self.doc = json.loads(run(name, "--json", *options))
        self.tape, self.words = self.doc["tape"], self.doc["words"]
        self.lines = {line["name"]: line for line in reversed(self.tape) if line["name"]}

    def value(self, name):
        return [[float(x) for x in row] for row in self.lines[name]["value"]]

    def gradient(self, name):
        return [[float(x) for x in row] for row in self.lines[name]["gradient"]]

    def shape(self, name):
        return "{} × {}".format(*self.lines[name]["shape"])

    def result(self):  # the shape of the line where backward began
        return "{} × {}".format(*self.tape[self.doc["root"]]["shape"])

    def matrix(self, name):  # one that is not on the tape
        return next(m for step in self.doc["steps"] for m in step["matrices"] if m["name"] == name)
