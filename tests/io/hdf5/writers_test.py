"""Checks that heatpp reads HDF5's kinds of elements that h5py writes, and explains what to do if it cannot: writers_test.py
MPIEXEC ... TEST. If h5py or NumPy are missing, exits with 77, which ctest shows as skipped."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROWS = np.arange(13)


def file(folder, name, expected, field="", error="", **how):
    """Makes a file whose dataset x, or its field, must be read as `expected`, or refused with a text."""
    if error:
        (folder / f"{name}.error").write_text(error)
    else:
        np.save(folder / f"{name}.npy", expected)
    if field:
        (folder / f"{name}.field").write_text(field)
    return h5py.File(folder / f"{name}.h5", "w", **how)


def write_numbers(folder):
    table = np.zeros(13, dtype=[("lon", "f4"), ("lat", "f4"), ("place", [("x", "f8"), ("y", "f8")]), ("v", "i2", (2,)), ("name", "S4")])
    table["lon"], table["place"]["y"], table["v"][:, 1] = ROWS, ROWS / 4, -ROWS
    for field, expected in (("lon", table["lon"]), ("place/y", table["place"]["y"]), ("v", table["v"])):
        with file(folder, f"table.{field.replace('/', '.')}", expected, field) as f:
            f.create_dataset("x", data=table, chunks=(4,), compression="gzip")
    with file(folder, "table", None, error='"v" (int16 in arrays of (2,)), "name" (strings)') as f:
        f["x"] = table
    small = np.zeros(13, dtype=[("m", "f4", (2, 3)), ("flags", "?", (2,)), ("names", "S4", (2,)), ("c", "c8", (2,))])
    small["m"], small["c"][:, 1] = np.arange(78).reshape(13, 2, 3), 1j * ROWS
    for field in ("m", "flags", "c"):
        with file(folder, f"small.{field}", small[field], field) as f:
            f.create_dataset("x", data=small, chunks=(4,))
    with file(folder, "small", None, error='"m" (float32 in arrays of (2, 3)), "flags" (bool in arrays of (2,)), '
              '"names" (strings in arrays of (2,)), "c" (complex64 in arrays of (2,))') as f:
        f["x"] = small
    with file(folder, "pair", None, error="\"lon\" (float32), \"lat\" (float32)") as f:
        f["x"] = table[["lon", "lat"]].astype([("lon", "f4"), ("lat", "f4")])
    for name, dtype in (("c64", "c8"), ("c128", "c16")):
        with file(folder, name, (ROWS + 2j * ROWS).astype(dtype)) as f:
            f["x"] = (ROWS + 2j * ROWS).astype(dtype)
    with file(folder, "arrays", np.arange(39, dtype="f4").reshape(13, 3)) as f:
        f.create_dataset("x", (13,), dtype=np.dtype(("f4", (3,))))[...] = np.arange(39, dtype="f4").reshape(13, 3)
    with file(folder, "flags", ROWS % 3 == 0) as f:
        f["x"] = ROWS % 3 == 0
    with file(folder, "enum", (ROWS % 2).astype("i4")) as f:
        f.create_dataset("x", data=(ROWS % 2).astype("i4"), dtype=h5py.enum_dtype({"no": 0, "yes": 1}, basetype="i4"))
    with file(folder, "half", ROWS.astype("f2")) as f:
        f["x"] = ROWS.astype("f2")
    with file(folder, "texts", None, error="which holds strings; expected numbers") as f:
        f["x"] = np.array([b"a", b"bc"])
    with file(folder, "constant", np.full((13, 2), 2.5)) as f:
        f.create_group("x").attrs.update({"value": 2.5, "shape": np.array([13, 2], "u8")})
    with file(folder, "h5md", ROWS.astype("f8")) as f:
        f["x/value"], f["x/step"], f["x/time"] = ROWS.astype("f8"), 10, 0.5


def write_virtual(folder):
    for i in range(3):
        with h5py.File(folder / f"part-{i}.source", "w") as f:
            f["x"] = np.arange(4.0) + 4 * i
    for name, count in (("virtual", 3), ("virtual_gone", 4)):
        layout = h5py.VirtualLayout((4 * count,), "f8")
        for i in range(count):
            layout[4 * i:4 * i + 4] = h5py.VirtualSource(str(folder / f"part-{i}.source"), "x", (4,))
        with file(folder, name, np.arange(12.0), error="part-3.source\", a file that is missing" if count == 4 else "") as f:
            f.create_virtual_dataset("x", layout)
    layout = h5py.VirtualLayout((8,), "f8")
    for i in range(2):
        layout[4 * i:4 * i + 4] = h5py.VirtualSource(str(folder / "part-0.source"), "x", (8,))[4 * i:4 * i + 4]
    with file(folder, "virtual_short", None, error="has the shape (4,), which does not cover (8,)") as f:
        f.create_virtual_dataset("x", layout)


def write_newest(folder):
    if h5py.version.hdf5_version_tuple < (2, 0, 0):
        return
    hint = "write it readable by libver=(\"earliest\", \"v114\")"
    with file(folder, "latest", None, error=hint, libver="latest") as f:
        f.create_dataset("x", data=ROWS, chunks=(4,), compression="gzip")
    with file(folder, "readable", ROWS, libver=("earliest", "v114")) as f:
        f.create_dataset("x", data=ROWS, chunks=(4,), compression="gzip")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    write_numbers(folder)
    write_virtual(folder)
    write_newest(folder)
    subprocess.run([*sys.argv[1:], "[.writers]"], check=True, env=os.environ | {"HEATPP_HDF5_FILES": name})
    print(f"{len(list(folder.glob('*.h5')))} files of h5py {h5py.__version__} on HDF5 {h5py.version.hdf5_version}")
