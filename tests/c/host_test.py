"""Runs hosts in C and Fortran with a network that Python has scripted, and reads what they write: host_test.py MPIEXEC -n
RANKS ... -- PROGRAM ... Ends with 77, which ctest shows as skipped, where there is no torch or h5py."""

import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

split = sys.argv.index("--")
launch, ranks, programs = sys.argv[1:3], [int(number) for number in sys.argv[3:split]], sys.argv[split + 1:]

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    torch.manual_seed(1)
    torch.jit.script(torch.nn.Linear(2, 1)).save(folder / "network.pt")
    for number in ranks:
        for program in programs:
            subprocess.run([*launch, str(number), program, folder, folder / "network.pt"], check=True, timeout=100)
        rows = sum(2 + rank for rank in range(number - 1 or 1))
        with h5py.File(folder / "c.h5") as file:
            assert np.array_equal(file["run/field"], np.arange(rows * 3.0).reshape(rows, 3))
        if len(programs) > 1:
            with h5py.File(folder / "fortran.h5") as file:
                assert np.array_equal(file["field"], np.arange(12.0 * number).reshape(2 * number, 2, 3))
print("passed")
