"""Checks that heatpp and h5py's plugins and zarr read each other's compressed files: codecs_test.py MPIEXEC ... TEST.
If these are missing, exits with 77, which ctest shows as skipped."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import hdf5plugin
    import numcodecs
    import numpy as np
    import zarr
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VALUES = np.arange(37 * 11, dtype=np.float64).reshape(37, 11)
HDF5 = {"zstd": hdf5plugin.Zstd(clevel=5), "lz4": hdf5plugin.LZ4(), "lz4_blocks": hdf5plugin.LZ4(nbytes=64),
        "blosc_lz4": hdf5plugin.Blosc(cname="lz4", shuffle=hdf5plugin.Blosc.SHUFFLE),
        "blosc_zstd": hdf5plugin.Blosc(cname="zstd", shuffle=hdf5plugin.Blosc.BITSHUFFLE),
        "blosc_zlib": hdf5plugin.Blosc(cname="zlib", shuffle=hdf5plugin.Blosc.NOSHUFFLE)}
ZARR2 = {"zstd": numcodecs.Zstd(), "lz4": numcodecs.LZ4(), "blosc_lz4": numcodecs.Blosc("lz4"), "blosc_zstd": numcodecs.Blosc("zstd", 9, 2),
         "zlib": numcodecs.Zlib(), "gzip": numcodecs.GZip()}
ZARR3 = {"zstd": zarr.codecs.ZstdCodec(checksum=True), "blosc": zarr.codecs.BloscCodec(cname="lz4", typesize=8), "gzip": zarr.codecs.GzipCodec()}


def write(folder):
    for name, options in HDF5.items():
        for shuffle in (False, True):
            with h5py.File(folder / f"{name}.{shuffle}.h5", "w") as file:
                file.create_dataset("x", data=VALUES, chunks=(8, 5), shuffle=shuffle, **options)
    for form, codecs in ((2, ZARR2), (3, ZARR3)):
        for name, codec in codecs.items():
            array = zarr.create_array(folder / f"{name}.v{form}.zarr", shape=VALUES.shape, chunks=(8, 5), dtype="f8",
                                      compressors=[codec], zarr_format=form)
            array[:] = VALUES


def check(folder):
    files = sorted(folder.iterdir())
    assert len(files) == 8, files
    for path in files:
        if path.suffix == ".h5":
            with h5py.File(path) as file:
                values = file["data"][:]
        else:
            values = zarr.open_group(path, mode="r")["data"][:]
        assert np.array_equal(values, VALUES), path
        print(f"{path.name}: {sum(f.stat().st_size for f in [path, *path.rglob('*')])} bytes, as Python reads it")


with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root)
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    write(folder / "in")
    for plugins in ({}, {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}):
        subprocess.run([*sys.argv[1:], "[.python]"], env=os.environ | {"HEATPP_CODEC_FILES": root} | plugins, check=True)
        check(folder / "out")
