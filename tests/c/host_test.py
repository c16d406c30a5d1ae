"""Runs hosts in C and Fortran with a network that Python has scripted or exported, and reads what they write: host_test.py MPIEXEC -n
RANKS ... -- PROGRAM ... Ends with 77, which ctest shows as skipped, if there is no torch or h5py."""

import importlib.util
import os
import pathlib
import shutil
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
    networks = ["network.pt"]
    if all(importlib.util.find_spec(name) for name in ("filelock", "networkx", "sympy")):  # of torch.export
        rows = torch.export.Dim("rows")
        torch.export.save(torch.export.export(torch.nn.Linear(2, 1), (torch.zeros(2, 2),), dynamic_shapes=({0: rows},)), folder / "network.pt2")
        networks.append("network.pt2")

    def run(command, network=networks[0], **options):
        for left in [*folder.glob("fields*"), *folder.glob("grown*")]:
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        subprocess.run([*command, folder, folder / network], check=True, timeout=100, **options)

    # The host has as many threads after heatpp's calls as before, with and without mpirun, for every way to set their number.
    for threads in (None, "4"):
        environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        environment |= {"OMP_NUM_THREADS": threads} if threads else {}
        for launched in ([], [*launch, "2"]):
            run([*launched, programs[0]], env=environment)
    for number in ranks:
        for program in reversed(programs):
            run([*launch, str(number), program], networks[number % len(networks)])
            if program != programs[0]:
                with h5py.File(folder / "fields_fortran.h5") as file:
                    assert sorted(file) == ["u", "v"] and file["u"].chunks == (1, 3) and file["u"].attrs["units"] == "K"
                    assert [dimension.label for dimension in file["u"].dims] == ["y", "x"]
        with h5py.File(folder / "fields.h5") as file:
            field = np.arange(6.0 * number).reshape(2 * number, 3)
            assert np.array_equal(file["u"], field) and np.array_equal(file["v"], -field)
            stored = file["stored"]
            assert stored.compression == "gzip" and stored.chunks == (1, 3) and np.array_equal(stored, field)
            assert stored.attrs["units"] == "K" and list(stored.attrs["levels"]) == [1, 2]
            assert [dimension.label for dimension in stored.dims] == ["y", "x"]
        rows = sum(2 + rank for rank in range(number - 1 or 1))
        with h5py.File(folder / "c.h5") as file:
            assert np.array_equal(file["run/field"], np.arange(rows * 3.0).reshape(rows, 3))
        if len(programs) > 1:
            with h5py.File(folder / "fortran.h5") as file:
                assert np.array_equal(file["field"], np.arange(12.0 * number).reshape(2 * number, 2, 3))
print("passed")
