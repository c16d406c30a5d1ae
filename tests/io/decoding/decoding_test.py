"""Checks that heatpp reads packed and missing numbers as xarray and netCDF4 do, and that xarray reads the same from
files that heatpp converts: decoding_test.py MPIEXEC ... TEST. If these are missing, exits with 77, which ctest shows
as skipped."""

import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import netCDF4
    import numpy as np
    import xarray as xr
    import zarr  # noqa: F401, xarray needs it
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

warnings.simplefilter("ignore")  # some files have several fill values on purpose
FLOATS = np.array([280.1, np.nan, 281.5, 300.0, 250.25])
SMALL = np.array([1.0, np.nan, 3.0, 250.0, 17.0])
# What is written of an array, and how.
WRITTEN = {
    "packed": (FLOATS, dict(dtype="int16", scale_factor=0.01, add_offset=280.0, _FillValue=-32768)),
    "scaled": (FLOATS, dict(dtype="int32", scale_factor=0.01, _FillValue=-1)),
    "bytes": (SMALL, dict(dtype="uint8", _FillValue=255)),
    "unsigned16": (SMALL, dict(dtype="uint16", _FillValue=65535)),
    "packed16": (SMALL, dict(dtype="uint16", scale_factor=0.5, add_offset=-20.0, _FillValue=65535)),
    "unsigned32": (SMALL, dict(dtype="uint32", _FillValue=4294967295)),
    "whole": (SMALL, dict(dtype="int64", _FillValue=-9)),
    "turned": (SMALL, dict(dtype="int8", _Unsigned="true", _FillValue=-1)),
    "marked": (SMALL.astype("f4"), dict(_FillValue=np.float32(-9999))),
    "double": (SMALL, dict(_FillValue=-1e30)),
    "named": (SMALL.astype("f4"), dict(missing_value=np.float32(-9999))),
    "plain": (SMALL, {}),
    "numbers": (np.arange(5, dtype="i4"), {}),
    "flags": (np.array([True, False, True, True, False]), {}),
}
STORED = {  # written only by netCDF4: type, numbers, attributes
    "single": ("i2", [10, -1, 30], dict(_FillValue=np.int16(-1), scale_factor=np.float32(0.1), add_offset=np.float32(-20))),
    "offset": ("i2", [10, -1, 30], dict(_FillValue=np.int16(-1), add_offset=np.float32(-20))),
    "long": ("i4", [10, -1, 30], dict(_FillValue=np.int32(-1), scale_factor=np.float32(0.1), add_offset=np.float32(-20))),
    "goes": ("i2", [32767, -32768, -25536, -1], dict(_FillValue=np.int16(-1), _Unsigned="true", scale_factor=np.float32(0.1), add_offset=np.float32(-20))),
    "several": ("f4", [1, -9, 3, 7], dict(_FillValue=np.float32(-9), missing_value=np.array([7, 8], "f4"))),
    "range": ("i2", [1, 50, -5, 200], dict(valid_range=np.array([0, 100], "i2"))),
    "bounds": ("f4", [1, 50, -5, 200], dict(_FillValue=np.float32(50), valid_min=np.float32(0), valid_max=np.float32(100))),
}


def write(folder):
    for name, (values, encoding) in WRITTEN.items():
        data = xr.Dataset({"v": (("x",), values, {"units": "K"})})
        data.to_netcdf(folder / f"{name}.nc", engine="netcdf4", encoding={"v": encoding})
        (folder / f"{name}.h5").write_bytes((folder / f"{name}.nc").read_bytes())  # load_hdf5 reads them
        for form in (2, 3):
            data.to_zarr(folder / f"{name}_v{form}.zarr", zarr_format=form, consolidated=False, encoding={"v": encoding})
    for name, (kind, values, said) in STORED.items():
        with netCDF4.Dataset(folder / f"{name}.nc", "w") as file:
            file.createDimension("x", len(values))
            v = file.createVariable("v", kind, ("x",), fill_value=said.get("_FillValue"))
            v.set_auto_maskandscale(False)
            v.setncatts({key: value for key, value in said.items() if key != "_FillValue"})
            v[:] = np.array(values, kind)
    with netCDF4.Dataset(folder / "enumerated.nc", "w") as file:
        kind = file.createEnumType(np.uint16, "cloud", {"clear": 0, "rain": 3, "much": 60000})
        file.createDimension("x", 3)
        file.createVariable("v", kind, ("x",))[:] = np.array([3, 60000, 0], "u2")
    with netCDF4.Dataset(folder / "complex.nc", "w", auto_complex=True) as file:
        file.createDimension("x", 3)
        file.createVariable("v", np.complex128, ("x",))[:] = np.array([1 + 2j, -3j, 4])


def by_xarray(path):
    if path.suffix == ".zarr":
        return xr.open_zarr(path, consolidated=False, decode_times=False)["v"]
    return xr.open_dataset(path, engine="netcdf4", decode_times=False)["v"]


def expected(path):
    """Reads a file with xarray, or with netCDF4 if it states the range of the numbers."""
    if path.name in ("range.nc", "bounds.nc"):
        with netCDF4.Dataset(path) as file:
            return np.ma.filled(file["v"][:].astype("f4"), np.nan)
    if path.name == "complex.nc":
        with netCDF4.Dataset(path, auto_complex=True) as file:
            return file["v"][:]
    return by_xarray(path).values


def equal(found, right):
    return found.shape == right.shape and np.array_equal(found, right, equal_nan=right.dtype.kind in "fc")


with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root)
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    for codec in ("zstd", "blosc_lz4", "zlib"):
        with netCDF4.Dataset(folder / f"{codec}.nc", "w") as file:
            file.createDimension("x", 1000)
            file.createVariable("v", "f4", ("x",), compression=codec)[:] = np.arange(1000)
        subprocess.run([*sys.argv[1:], "[.filtered]"], env=os.environ | {"HEATPP_FILTERED_FILE": str(folder / f"{codec}.nc")}, check=True)
    write(folder / "in")
    subprocess.run([*sys.argv[1:], "[.decoded]"], env=os.environ | {"HEATPP_DECODED_FILES": root}, check=True)
    for path in sorted((folder / "in").iterdir()):
        right, found = expected(path), np.load(folder / f"out/{path.name}.npy")
        assert equal(found, right), (path, found, right)
        wider = {"uint16": "int32", "uint32": "int64"}.get(right.dtype.name, right.dtype.name)
        assert found.dtype == wider, (path, found.dtype, right.dtype)
        for to in ("h5", "nc", "zarr", "v3.zarr"):
            copy = folder / f"out/{path.name}.{to}"
            if path.name == "complex.nc":
                continue
            read, original = by_xarray(copy), by_xarray(path)
            single = to.endswith("zarr") and path.name in ("single.nc", "goes.nc")  # JSON has no float32
            assert np.allclose(read.values, original.values, 1e-6, equal_nan=True) if single else equal(read.values, original.values), (copy, read.values, original.values)
            kind = {"uint16": "int32"}.get(original.dtype.name, original.dtype.name)  # for an enumeration
            assert single or read.dtype == kind, (copy, read.dtype, original.dtype)
            assert read.attrs.get("units") == original.attrs.get("units"), copy
            print(f"{copy.name}: as xarray reads {path.name}")
