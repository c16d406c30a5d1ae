#!/usr/bin/env bash
# xarray reads stored zeros of a Zarr 2 array as NaN, and those of a Zarr 3 array as zeros.
#
# In both formats `fill_value` is the value of chunks that were never written. For format 2 xarray also takes it for the
# marker of missing values, for format 3 it does not. zarr-python writes fill_value 0 by default, so that every number
# 0.0 which somebody stored becomes NaN. A writer of format 2 for readers with xarray has to store `null`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q zarr==3.1.6 xarray==2025.12.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy, xarray, zarr

print("zarr", zarr.__version__, "xarray", xarray.__version__)
stored = numpy.array([0, 1, 2, 3], "float32")


def read_back(version, **names):
    """The numbers as xarray reads them from a store of this version."""
    path = f"v{version}.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=version)
    array = group.create_array("t", shape=(4,), chunks=(4,), dtype="float32", **names)
    array[:] = stored
    assert array.fill_value == 0 and (array[:] == stored).all()
    read = xarray.open_zarr(path, consolidated=False)["t"].values
    print(f"format {version}: stored {stored}, read by xarray {read}")
    return read


two = read_back(2, attributes={"_ARRAY_DIMENSIONS": ["x"]})
three = read_back(3, dimension_names=["x"])
assert numpy.isnan(two[0]) and (two[1:] == stored[1:]).all(), "format 2 is read otherwise now"
assert (three == stored).all(), "format 3 is read otherwise now"
PYTHON
# Seen: format 2: stored [0. 1. 2. 3.], read by xarray [nan  1.  2.  3.]
#       format 3: stored [0. 1. 2. 3.], read by xarray [0. 1. 2. 3.]
