#!/usr/bin/env bash
# xarray reads missing values as 255 if a variable has `_Unsigned = "true"` and its marker is `missing_value`.
#
# With `_Unsigned` it makes int8 numbers unsigned before it masks, and converts `_FillValue` but not `missing_value`: -1 is
# compared with 255. There is no warning, and the array is float32, as if it were masked. netCDF4-python masks the value.
# xarray itself writes a `_FillValue` beside such a `missing_value`, so that its own files do not show it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q xarray==2026.9.0 netCDF4==1.7.5.1.post1 numpy==2.4.6
cd "$folder"
venv/bin/python -W error - <<'PYTHON'
import netCDF4, numpy, xarray

print("xarray", xarray.__version__, "netCDF4", netCDF4.__version__, "numpy", numpy.__version__)


def read_back(marker):
    """The numbers that xarray reads of stored bytes with the marker -1 of missing values in this attribute."""
    with netCDF4.Dataset("t.nc", "w") as file:
        file.createDimension("x", 3)
        variable = file.createVariable("t", "i1", ("x",), fill_value=-1 if marker == "_FillValue" else None)
        variable.set_auto_maskandscale(False)
        variable.setncattr("_Unsigned", "true")
        if marker == "missing_value":
            variable.setncattr(marker, numpy.int8(-1))
        variable[:] = numpy.array([1, -2, -1], "i1")
    with xarray.open_dataset("t.nc") as opened, netCDF4.Dataset("t.nc") as file:
        print(f"{marker}: xarray {opened['t'].dtype} {opened['t'].values}, netCDF4 {file['t'][:]}")
        assert file["t"][:].tolist() == [1, 254, None]
        return opened["t"].values


assert read_back("missing_value").tolist() == [1, 254, 255], "missing_value is masked now"
assert numpy.isnan(read_back("_FillValue")[2])
PYTHON
# Seen: missing_value: xarray float32 [  1. 254. 255.], netCDF4 [1 254 --]
#       _FillValue: xarray float32 [  1. 254.  nan], netCDF4 [1 254 --]
