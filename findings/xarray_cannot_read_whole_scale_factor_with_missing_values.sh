#!/usr/bin/env bash
# xarray cannot read packed whole numbers with missing values if `scale_factor` is a whole number, even if it wrote them.
#
# It takes the dtype of the decoded array from `scale_factor`: an integer, which cannot hold the NaN of a missing value.
# The file opens, and a ValueError comes when the numbers are read. CF allows attributes of the variable's own type, and
# netCDF4-python reads the file. `encoding={"scale_factor": 2}` is enough to write one; 2.0 instead of 2 avoids it, and an
# `add_offset` beside it does, too.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q xarray==2026.9.0 netCDF4==1.7.5.1.post1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import netCDF4, numpy, xarray

print("xarray", xarray.__version__, "netCDF4", netCDF4.__version__, "numpy", numpy.__version__)
data = xarray.Dataset({"t": ("x", [2.0, 4.0, numpy.nan])})


def outcome(**packing):
    """What xarray reads of the data that it has packed like this."""
    data.to_netcdf("t.nc", encoding={"t": {"dtype": "int16", "_FillValue": -999, **packing}})
    with xarray.open_dataset("t.nc") as opened:
        try:
            found = str(opened["t"].values)
        except ValueError as error:
            found = f"{opened['t'].dtype}, ValueError: {error}"
    print(f"{packing}: {found}")
    return found


for factor in (2, numpy.int16(2)):
    assert "ValueError" in outcome(scale_factor=factor), "a whole scale_factor can be read now"
    with netCDF4.Dataset("t.nc") as file:
        print("  by netCDF4:", file["t"][:])
        assert file["t"][:].tolist() == [2, 4, None]
assert outcome(scale_factor=2.0) == "[ 2.  4. nan]"
assert outcome(scale_factor=2, add_offset=0) == "[ 2.  4. nan]"
PYTHON
# Seen: {'scale_factor': 2}: int64, ValueError: cannot convert float NaN to integer
#         by netCDF4: [2 4 --]
#       {'scale_factor': np.int16(2)}: int16, ValueError: cannot convert float NaN to integer
#         by netCDF4: [2 4 --]
#       {'scale_factor': 2.0}: [ 2.  4. nan]
#       {'scale_factor': 2, 'add_offset': 0}: [ 2.  4. nan]
