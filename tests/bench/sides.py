"""The sides that take turns: programs that wait for a line, time what it names, and answer. See turns.h."""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

OLD_KERNELS = {"Prescott", "Generic", "Core2", "Penryn", "Nehalem", "Dunnington", "Barcelona", "Sandybridge"}
HOW = {
    "OpenBLAS": "OpenBLAS is not here (Debian: libopenblas0-pthread or libopenblas0-openmp)",
    "oneDNN": "oneDNN is not here (Debian: libdnnl2)",
    "llm.c": "llm.c is not here (a checkout of github.com/karpathy/llm.c; then --llmc PATH)",
    "torch 1.13": "PyTorch 1.13 is not here (Debian 12: python3-torch)",
    "torch": "a current PyTorch is not here (python3 -m venv V; V/bin/pip install torch; then --python V/bin/python)",
}


class Gone(Exception):
    """A side that cannot answer."""


class Side:
    """One program, in its own process."""

    def __init__(self, command, env=None):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=env)
        try:
            self.about = self.read()
            if "none" in self.about:
                raise Gone(self.about["none"])
        except Gone:
            self.stop()
            raise

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            last = self.errors.read().strip().splitlines()[-1:]
            raise Gone(last[0] if last else f"it ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, threads, seconds, case, variant):
        """{"n", "min", "median", ...}, or {"none": why}."""
        line = " ".join(map(str, (threads, seconds, case.kind, variant, *case.size)))
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            return self.read()
        except (OSError, Gone) as e:
            return {"none": str(e)}

    def stop(self):
        with contextlib.suppress(OSError):  # it may be gone already
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def flags():
    try:
        return set(Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split())
    except (OSError, IndexError):
        return set()


def best_kernel():
    """OpenBLAS's name for the best kernel of this processor, for versions that are older than the processor."""
    has = flags()
    return "SkylakeX" if "avx512dq" in has else "Haswell" if {"avx2", "fma"} <= has else ""


def openblas_libraries():
    found = [p for build in ("pthread", "openmp") for p in sorted(glob.glob(f"/usr/lib/*/openblas-{build}/libopenblas.so.0"))]
    return found or ["libopenblas.so.0"]


def tuned(threads):
    """The environment in which PyTorch is at its best; docs/performance.md says what each line is worth."""
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_="8000000000", MALLOC_TOP_PAD_="268435456")
    if best_kernel():
        env["OPENBLAS_CORETYPE"] = best_kernel()
    if best_kernel() == "SkylakeX":
        env["ATEN_CPU_CAPABILITY"] = "avx512"
    for path in openblas_libraries():
        if "openblas-openmp" in path:  # one pool of threads for PyTorch and its BLAS
            env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [os.path.dirname(path), env.get("LD_LIBRARY_PATH")]))
    return env


def start_openblas(program, threads):
    """Every build that is here: the better one counts, case by case. One is made to run the best kernel if it would not by itself."""
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    env["OMP_NUM_THREADS"] = str(threads)
    sides, notes = [], []
    for library in openblas_libraries():
        try:
            side = Side([program, "openblas", library], env)
            kernel = side.about["kernel"]
            if kernel in OLD_KERNELS and best_kernel() not in ("", kernel):
                side.stop()
                side = Side([program, "openblas", library], dict(env, OPENBLAS_CORETYPE=best_kernel()))
                side.about["kernel"] += f", forced: by itself it picks {kernel}"
        except Gone:
            continue
        build = os.path.basename(os.path.dirname(library)).replace("openblas-", "") or "as found"
        notes.append(f"OpenBLAS {side.about['version']} {build}: kernel {side.about['kernel']}")
        sides.append(side)
    return sides, notes


def start_onednn(program, threads):
    for library in ("libdnnl.so.3", "libdnnl.so.2"):
        try:
            side = Side([program, "onednn", library], dict(os.environ, OMP_NUM_THREADS=str(threads)))
            return [side], [f"oneDNN {side.about['version']}"]
        except Gone:
            continue
    return [], []


def pythons(named):
    """The ones that were named, then the usual places."""
    own = os.path.join(os.environ["VIRTUAL_ENV"], "bin/python") if "VIRTUAL_ENV" in os.environ else None
    for path in dict.fromkeys([*named, own, shutil.which("python3"), "/usr/bin/python3"]):
        if path and shutil.which(path):
            yield path


def start_torch(script, threads, named, wanted):
    """The first PyTorch of each kind, old and current."""
    sides, notes = {}, []
    for python in pythons(named):
        if all(name in sides for name in wanted):
            break
        try:
            side = Side([python, str(script)], tuned(threads))
        except (Gone, OSError) as e:
            if python in named:
                notes.append(f"--python {python}: {e}")
            continue
        name = "torch 1.13" if side.about["version"].startswith("1.") else "torch"
        if name in sides or name not in wanted:
            side.stop()
            continue
        notes.append(f"{name} is PyTorch {side.about['version']}, tuned, by {python}")
        sides[name] = [side]
    return sides, notes


def start_llmc(program, threads):
    side = Side([program], dict(os.environ, OMP_NUM_THREADS=str(threads)))
    return [side], [f"llm.c: {side.about['version']}"]


def start(programs, here, threads, named, wanted, llmc=False):
    """{name: [sides]} of all that are wanted and here, and what is to be said about them."""
    sides, notes = {"glassgrad": [Side([str(programs / "bench_glass")], dict(os.environ, OMP_NUM_THREADS=str(threads)))]}, []
    notes.append(f"glassgrad: {sides['glassgrad'][0].about['version']}")
    for name, starter, program in (("OpenBLAS", start_openblas, "bench_blas"), ("oneDNN", start_onednn, "bench_blas"), ("llm.c", start_llmc, "bench_llmc")):
        if name in wanted and (llmc or name != "llm.c"):
            found, said = starter(str(programs / program), threads)
            notes += said
            if found:
                sides[name] = found
    torches = [name for name in wanted if name.startswith("torch")]
    if torches:
        found, said = start_torch(here / "pytorch.py", threads, named, torches)
        sides.update(found)
        notes += said
    notes += [HOW[name] for name in wanted if name in HOW and name not in sides]
    return sides, notes
