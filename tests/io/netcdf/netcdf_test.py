"""Checks that heatpp and SciPy read each other's files in netCDF's classic formats: netcdf_test.py MPIEXEC ... TEST.
SciPy has CDF-1 and CDF-2. If SciPy is missing, exits with 77, which ctest shows as skipped."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy.io import netcdf_file
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VALUES = np.arange(35, dtype=np.float64).reshape(7, 5)
TYPES = {"Char": "i1", "Short": ">i2", "Int": ">i4", "Float": ">f4"}


def write(path, version):
    with netcdf_file(path, "w", version=version) as file:
        for name, length in (("time", None), ("y", 7), ("x", 5)):
            file.createDimension(name, length)
        file.createVariable("x", "f8", ("y", "x"))[:] = VALUES
        file.createVariable("odd", "i1", ("time", "x"))[:7] = VALUES
        file.createVariable("rows", "f8", ("time", "x"))[:7] = VALUES


def check(path, version):
    with netcdf_file(path, "r", mmap=False) as file:
        assert file.version_byte == version, path
        assert file.dimensions == {"y": 7, "x": 5, "time": None}, file.dimensions
        assert set(file.variables) == {"x", "flags", *(f"rows_{name}" for name in TYPES)}, file.variables
        x, flags = file.variables["x"], file.variables["flags"]
        assert x.dimensions == ("y", "x") and x.data.dtype == np.dtype(">f8") and np.array_equal(x[:], VALUES), path
        assert flags.isrec and flags.dtype == b"bool" and np.array_equal(flags[:], VALUES % 3 == 0), path
        for name, dtype in TYPES.items():
            rows = file.variables[f"rows_{name}"]
            assert rows.isrec and rows.data.dtype == np.dtype(dtype) and np.array_equal(rows[:], VALUES - 17), (path, name)
    print(f"{path.name}: {path.stat().st_size} bytes, as SciPy reads it")


with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root)
    for version in (1, 2):
        write(folder / f"in_cdf{version}.nc", version)
    subprocess.run([*sys.argv[1:], "[.scipy]"], env=os.environ | {"HEATPP_NETCDF_FILES": root}, check=True)
    for version in (1, 2):
        check(folder / f"out_cdf{version}.nc", version)
