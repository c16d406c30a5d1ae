"""Checks that heatpp reads and writes attributes and names of dimensions as h5py, netCDF4 and zarr do:
attributes_test.py MPIEXEC ... TEST. If these are missing, exits with 77, which ctest shows as skipped."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import netCDF4
    import numpy as np
    import zarr
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VALUES = np.arange(12, dtype=np.float64).reshape(4, 3)
NAMES = ["time", "x"]
SAID = {"units": "K", "temp\u00e9": 4, "long_name": "température", "level": 3, "factor": 0.5, "range": [0, 9], "weights": [0.5, 2.0], "stations": ["north", "far south"]}

# The marks of missing values: in Zarr's format 2 the fill value, 0 unless given.
MARKERS = {"x.nc": {"_FillValue": -1.0}, "v2.zarr": {"_FillValue": 0.0}}


def write(folder):
    with h5py.File(folder / "x.h5", "w") as file:
        x = file.create_dataset("data", data=VALUES)
        x.attrs.update(SAID)
        x.attrs["units"] = np.bytes_("K")  # a text of fixed length
        x.attrs["long_name"] = np.bytes_("température".encode("latin-1"))  # as in older files
        x.attrs["CLASS"] = "ARRAY"  # as PyTables writes it; netCDF reserves it
        del x.attrs["temp\u00e9"]
        h5py.h5a.create(x.id, b"temp\xe9", h5py.h5t.NATIVE_INT32, h5py.h5s.create(h5py.h5s.SCALAR)).write(np.array(4, np.int32))
        x.attrs["where"] = file.ref  # this is left out
        for axis, name in enumerate(NAMES):
            x.dims[axis].label = name
    with netCDF4.Dataset(folder / "x.nc", "w") as file:
        for name, length in zip(NAMES, VALUES.shape):
            file.createDimension(name, length)
        x = file.createVariable("data", "f8", NAMES, fill_value=-1.0)
        x.setncatts(SAID)
        x[:] = VALUES
        flags = file.createVariable("flags", "i1", NAMES)
        flags.flag_values, flags.valid_min, flags[:] = np.arange(3, dtype="i1"), np.int8(-1), VALUES % 3
    for form in (2, 3):
        names = {"dimension_names": NAMES} if form == 3 else {}
        x = zarr.create_array(folder / f"v{form}.zarr", data=VALUES, zarr_format=form, attributes=SAID | {"nested": {"left": "out"}}, **names)
        if form == 2:
            x.attrs["_ARRAY_DIMENSIONS"] = NAMES


def said(path):
    """Returns attributes and names of dimensions."""
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            (x,) = file.values()
            found = dict(x.attrs), [each.label for each in x.dims], x[:]
            found[0].pop("DIMENSION_LABELS")
    elif path.suffix == ".nc":
        with netCDF4.Dataset(path) as file:
            (x,) = file.variables.values()
            found = {name: x.getncattr(name) for name in x.ncattrs()}, list(x.dimensions), x[:].data
    else:
        ((_, x),) = zarr.open_group(path, mode="r").arrays()
        found = dict(x.attrs), x.attrs["_ARRAY_DIMENSIONS"], x[:]
        found[0].pop("_ARRAY_DIMENSIONS")
    assert np.array_equal(found[2], VALUES), path
    if found[0].pop("CLASS", None) is not None:
        assert path.name in ("x.h5.h5", "x.h5.zarr"), path
    plain = lambda value: [plain(each) for each in value] if isinstance(value, (list, np.ndarray)) else getattr(value, "item", lambda: value)()
    return {name: plain(value) for name, value in found[0].items()}, found[1]


with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root)
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    write(folder / "in")
    subprocess.run([*sys.argv[1:], "[.annotated]"], env=os.environ | {"HEATPP_ANNOTATED_FILES": root}, check=True)
    files = sorted((folder / "out").iterdir())
    with netCDF4.Dataset(folder / "out/flags.nc") as file:
        flags = file["flags"]
        assert flags.flag_values.dtype == flags.valid_min.dtype == np.int8 and np.array_equal(flags[:], VALUES % 3), flags
    files.remove(folder / "out/flags.nc")
    assert len(files) == 12, files
    for path in files:
        markers = {} if path.suffix == ".zarr" else MARKERS.get(path.stem, {})  # Zarr stores the fill value
        assert said(path) == (SAID | markers, NAMES), (path, said(path))
        print(f"{path.name}: as Python reads it")
