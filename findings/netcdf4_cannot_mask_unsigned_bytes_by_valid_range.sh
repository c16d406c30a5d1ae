#!/usr/bin/env bash
# netCDF4-python raises a TypeError for an unsigned byte beyond `valid_range` if the variable has no `_FillValue`.
#
# It makes int8 with `_Unsigned = "true"` unsigned, masks the bytes out of range, and gives the masked array NetCDF's
# default marker of signed bytes, -127, which NumPy 2 does not put into a uint8. Whether a variable can be read depends
# on its numbers: without one out of range all is well. So it is with 16 bits, and with a `_FillValue`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q netCDF4==1.7.5.1.post1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import netCDF4, numpy

print("netCDF4", netCDF4.__version__, "numpy", numpy.__version__)


def outcome(dtype, numbers, fill_value=None):
    """What is read of stored numbers that are unsigned and valid from 0 to 100."""
    with netCDF4.Dataset("t.nc", "w") as file:
        file.createDimension("x", len(numbers))
        variable = file.createVariable("t", dtype, ("x",), fill_value=fill_value)
        variable.set_auto_maskandscale(False)
        variable.setncatts({"_Unsigned": "true", "valid_range": numpy.array([0, 100], dtype)})
        variable[:] = numpy.array(numbers, dtype)
    with netCDF4.Dataset("t.nc") as file:
        try:
            found = str(file["t"][:])
        except TypeError as error:
            found = f"TypeError: {error}"
    print(f"{dtype}, _FillValue {fill_value}, stored {numbers}: {found}")
    return found


assert outcome("i1", [1, 2, -2]).startswith("TypeError"), "unsigned bytes out of range can be read now"
assert outcome("i1", [1, 2, 3]) == "[1 2 3]"
assert outcome("i1", [1, 2, -2], fill_value=-1) == "[1 2 --]"
assert outcome("i2", [1, 2, -2]) == "[1 2 --]"
PYTHON
# Seen: i1, _FillValue None, stored [1, 2, -2]: TypeError: Cannot convert fill_value -127 to dtype uint8
#       i1, _FillValue None, stored [1, 2, 3]: [1 2 3]
#       i1, _FillValue -1, stored [1, 2, -2]: [1 2 --]
#       i2, _FillValue None, stored [1, 2, -2]: [1 2 --]
