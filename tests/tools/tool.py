"""Functions that all tests of the program heatpp use. NAME_test.py MPIEXEC FLAG RANKS HEATPP runs the functions of its list in one folder. If
h5py, NumPy or safetensors are missing, it exits with 77, which ctest shows as skipped."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import safetensors  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MPIEXEC, FLAG, RANKS, HEATPP = sys.argv[1:]
launcher = [] if RANKS == "1" else [MPIEXEC, FLAG, RANKS]
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def run(*arguments, code=0, **environment):
    """Returns what the program prints: stderr if it must fail."""
    command = [*launcher, HEATPP, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    check(done.returncode == code, f"{arguments}: code {done.returncode} instead of {code}: {done.stderr[-2000:]}")
    return done.stdout if code == 0 else done.stderr


def run_json(*arguments, **environment):
    return json.loads(run(*arguments, "--json", **environment))


def close(a, b, tolerance=1e-6):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance)


def write_shards(folder):
    random = np.random.default_rng(7)
    x = random.gamma(2.0, 3.0, size=(101, 40)).astype(np.float32)
    x[3, 5] = x[99, 0] = np.nan
    x[50, 7] = -np.inf
    for part, rows in enumerate(np.array_split(x, 3)):
        with h5py.File(folder / f"part-{part}.h5", "w") as file:
            file.create_dataset("run/x", data=rows, chunks=(8, 40), compression=4)
            file["run/x"].attrs.update({"units": "K", "range": [0.5, 2.0]})
            file["run/x"].dims[0].label, file["run/x"].dims[1].label = "time", "x"
            file["name"] = "gamma"
            file["steps"] = np.arange(5)
            file["steps_before"] = h5py.SoftLink("/gone")
    return x


def main(*tests):
    """Runs the tests with a folder that they share, and ends the program."""
    with tempfile.TemporaryDirectory() as name:
        for test in tests:
            test(pathlib.Path(name))
    sys.exit(1 if failures else 0)
