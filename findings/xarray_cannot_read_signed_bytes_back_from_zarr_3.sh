#!/usr/bin/env bash
# xarray writes bytes with `_Unsigned = "false"` and a marker above 127 to Zarr 3, and cannot open the store again.
#
# NetCDF keeps the marker `_FillValue` as an unsigned byte, which xarray turns into a signed one in silence. In Zarr 3 it
# is an attribute and comes back as a Python integer, for which NumPy 2 raises an OverflowError while the store is opened:
# no variable of the store can be read. A Zarr 2 store of the same data opens. The data here come from a NetCDF file, as
# OPeNDAP servers mark signed bytes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q xarray==2026.9.0 netCDF4==1.7.5.1.post1 zarr==3.1.6 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import netCDF4, numpy, xarray, zarr

print("xarray", xarray.__version__, "zarr", zarr.__version__, "numpy", numpy.__version__)
with netCDF4.Dataset("t.nc", "w") as file:
    file.createDimension("x", 3)
    variable = file.createVariable("t", "u1", ("x",), fill_value=255)
    variable.set_auto_maskandscale(False)
    variable.setncattr("_Unsigned", "false")
    variable[:] = [1, 254, 255]  # 1, -2, missing
data = xarray.open_dataset("t.nc").load()
print("NetCDF:", data["t"].values)
assert numpy.array_equal(data["t"].values, [1, -2, numpy.nan], equal_nan=True)


def outcome(version):
    """What xarray reads from the Zarr store of this version that it has written."""
    data.to_zarr(f"{version}.zarr", zarr_format=version, consolidated=False)
    try:
        found = str(xarray.open_zarr(f"{version}.zarr", consolidated=False)["t"].values)
    except OverflowError as error:
        found = f"OverflowError: {error}"
    print(f"Zarr {version}: {found}")
    return found


assert outcome(2) == str(data["t"].values), "format 2 is read otherwise now"
assert outcome(3).startswith("OverflowError"), "format 3 can be read now"
PYTHON
# Seen: NetCDF: [ 1. -2. nan]
#       Zarr 2: [ 1. -2. nan]
#       Zarr 3: OverflowError: Python integer 255 out of bounds for int8
