#!/usr/bin/env bash
# HDF5 forgets the extents of a source that a virtual dataset maps as a whole: once the file is reopened, it is a scalar.
#
# H5Pget_virtual_srcspace gives the extents (4,) and four elements until the file is closed, and a scalar of one element
# afterwards, even if the dataset was read. A source that is mapped by a hyperslab over the same four elements keeps its
# extents. h5py maps whole sources as such by default, so that a reader that compares the mapped elements on both sides
# finds 1 and 4 in a file without fault. h5py/h5py#2546 asks about it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q h5py==3.16.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import h5py, numpy

print("h5py", h5py.__version__, "HDF5", h5py.version.hdf5_version)
with h5py.File("source.h5", "w") as file:
    file["a"] = numpy.arange(4.0)


def mapped(dataset):
    """Extents and number of elements that the only mapping of a virtual dataset has in the source, and in the dataset."""
    (mapping,) = dataset.virtual_sources()
    return mapping.src_space.shape, mapping.src_space.get_select_npoints(), mapping.vspace.get_select_npoints()


def before_and_after(source):
    """What is mapped before the file with a virtual dataset of this source is closed, and afterwards."""
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = source
    with h5py.File("virtual.h5", "w") as file:
        before = mapped(file.create_virtual_dataset("v", layout))
    with h5py.File("virtual.h5") as file:
        assert file["v"][:].tolist() == [0, 1, 2, 3]
        after = mapped(file["v"])
    print("before", before, "after", after)
    return before, after


whole = h5py.VirtualSource("source.h5", "a", shape=(4,))
assert before_and_after(whole) == (((4,), 4, 4), ((), 1, 4)), "whole sources keep their extents now"
assert before_and_after(whole[0:4]) == (((4,), 4, 4), ((4,), 4, 4))
PYTHON
# Seen: h5py 3.16.0 HDF5 2.0.0
#       before ((4,), 4, 4) after ((), 1, 4)
#       before ((4,), 4, 4) after ((4,), 4, 4)
