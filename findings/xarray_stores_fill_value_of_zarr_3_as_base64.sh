#!/usr/bin/env bash
# In Zarr 3 xarray writes the marker of missing floats as base64 text of a float64, whatever the dtype of the array.
#
# The attribute `_FillValue` of a float32 array with the marker -9999 is the text "AAAAAICHw8A=", eight bytes of a
# little-endian double. Whole numbers keep a plain number. The `fill_value` of the array itself says NaN, so a reader that
# follows the Zarr specification alone finds -9999 as a number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q zarr==3.1.6 xarray==2025.12.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import base64, json, struct
import numpy, xarray, zarr

print("zarr", zarr.__version__, "xarray", xarray.__version__)


def marker_of(dtype, marker):
    """What the store says of missing values of this dtype: the attribute, the array's own fill value, and what lies there."""
    data = xarray.Dataset({"t": ("x", numpy.array([1, 2, 3], dtype))})
    if numpy.dtype(dtype).kind == "f":
        data["t"][1] = numpy.nan
    data["t"].encoding["_FillValue"] = numpy.dtype(dtype).type(marker)
    data.to_zarr(f"{dtype}.zarr", zarr_format=3, mode="w", consolidated=False)
    with open(f"{dtype}.zarr/t/zarr.json") as file:
        meta = json.load(file)
    raw = zarr.open_array(f"{dtype}.zarr/t")[:]
    print(f"{dtype}: _FillValue {meta['attributes']['_FillValue']!r}, fill_value {meta['fill_value']!r}, stored {raw}")
    return meta["attributes"]["_FillValue"], meta["fill_value"], raw


attribute, own, raw = marker_of("float32", -9999)
assert attribute == "AAAAAICHw8A=" and struct.unpack("<d", base64.b64decode(attribute)) == (-9999,)
assert own == "NaN" and raw[1] == -9999
attribute, own, raw = marker_of("int16", -9999)
assert attribute == -9999 and own == 0
PYTHON
# Seen: float32: _FillValue 'AAAAAICHw8A=', fill_value 'NaN', stored [ 1.e+00 -9.999e+03  3.e+00]
#       int16: _FillValue -9999, fill_value 0, stored [1 2 3]
