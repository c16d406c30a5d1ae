#!/usr/bin/env bash
# zarr-python writes a Zarr 3 array with numcodecs' Quantize that stores a narrower dtype, and cannot read it back.
#
# Quantize rounds float64 and stores float32. The store is written without a word, reading raises a ValueError: the codec
# does not tell zarr that its output has another dtype (numcodecs.zarr3.Delta does), so that zarr takes the stored bytes
# for float64. The same filter in a Zarr 2 array works. A reader has to take the dtype from the codec's `astype`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q zarr==3.1.6 numcodecs==0.16.6 numpy==2.4.6
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import numcodecs, numpy, zarr
import numcodecs.zarr3

print("zarr", zarr.__version__, "numcodecs", numcodecs.__version__)
numbers = numpy.arange(80.0).reshape(16, 5)


def outcome(version, codec):
    """What becomes of the numbers that are written and read through a filter."""
    array = zarr.create_array(f"{codec.__class__.__name__}{version}.zarr", shape=(16, 5), chunks=(8, 5), dtype="float64", filters=[codec],
                              zarr_format=version)
    array[:] = numbers
    try:
        found = "equal" if (array[:] == numbers).all() else "other numbers"
    except ValueError as error:
        found = f"ValueError: {error}"
    print(f"format {version}, {codec.__class__.__name__}: {found}")
    return found


narrower = {"digits": 1, "dtype": "<f8", "astype": "<f4"}
assert outcome(3, numcodecs.zarr3.Quantize(**narrower)).startswith("ValueError"), "format 3 can be read now"
assert outcome(2, numcodecs.Quantize(**narrower)) == "equal"
assert outcome(3, numcodecs.zarr3.Delta(dtype="<f8")) == "equal"
PYTHON
# Seen: format 3, Quantize: ValueError: cannot reshape array of size 20 into shape (8,5)
#       format 2, Quantize: equal
#       format 3, Delta: equal
