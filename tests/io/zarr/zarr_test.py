"""Checks that heatpp reads what zarr-python and TensorStore write, and that these, xarray and zarrs' codecs read what
heatpp writes and appends, if they are installed: zarr_test.py MPIEXEC ... TEST. If zarr is missing, exits with 77,
which ctest shows as skipped."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import numcodecs
    import numcodecs.zarr3 as filters
    import numpy as np
    import zarr
    from zarr import codecs
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import xarray
except ImportError:
    xarray = None
    print("xarray is not installed: zarr alone reads what heatpp writes")

try:
    import tensorstore
except ImportError:
    tensorstore = None
    print("TensorStore is not installed: it neither reads nor writes")
try:
    import zarrs  # noqa: F401: codecs for zarr
    PIPELINES = ("zarr.core.codec_pipeline.BatchedCodecPipeline", "zarrs.ZarrsCodecPipeline")
except ImportError:
    PIPELINES = ("zarr.core.codec_pipeline.BatchedCodecPipeline",)
    print("zarrs is not installed: its codecs read nothing")

warnings.simplefilter("ignore")  # zarr warns about codecs that its specification does not have
SHAPE = (37, 11)
VALUES = np.random.default_rng(3).integers(-500, 500, SHAPE)
GROWING = ("v3.default", "v3.shards", "v3.turned", "v3.delta", "v3.big", "v2.F", "v2.delta", "v2.blosc")


def arrays():
    """Yields name, values, and zarr's options to store them."""
    f8, i4 = VALUES / 8, VALUES.astype("i4")
    for first in ("start", "end"):
        yield f"v3.shards.{first}", f8, dict(chunks=(20, 6), codecs=[codecs.ShardingCodec(
            chunk_shape=(5, 3), codecs=[codecs.BytesCodec(), codecs.BloscCodec(cname="zstd"), codecs.Crc32cCodec()], index_location=first)])
    yield "v3.nested", f8, dict(chunks=(20, 6), codecs=[codecs.ShardingCodec(
        chunk_shape=(10, 6), codecs=[codecs.ShardingCodec(chunk_shape=(5, 2), codecs=[codecs.TransposeCodec(order=(1, 0)), codecs.BytesCodec(endian="big")])])])
    yield "v3.packed_shards", f8, dict(chunks=(20, 6), codecs=[codecs.ShardingCodec(chunk_shape=(5, 3)), codecs.Crc32cCodec(), codecs.GzipCodec()])
    yield "v3.shards", f8, dict(chunks=(5, 3), shards=(20, 6))
    yield "v3.default", f8, {}
    yield "v3.turned", f8, dict(chunks=(8, 5), filters=[codecs.TransposeCodec(order=(1, 0))])
    yield "v3.big", f8, dict(chunks=(8, 5), serializer=codecs.BytesCodec(endian="big"))
    yield "v3.delta", i4, dict(chunks=(8, 5), filters=[filters.Delta(dtype="<i4", astype="<i2")], compressors=[filters.Zlib(level=1)])
    yield "v3.scaled", (f8 * 2).round() / 2, dict(chunks=(8, 5), filters=[filters.FixedScaleOffset(offset=-100, scale=2, dtype="<f8", astype="<u2")])
    yield "v3.quantized", f8, dict(chunks=(8, 5), filters=[filters.Quantize(digits=1, dtype="<f8")])
    yield "v3.rounded", f8.astype("f4"), dict(chunks=(8, 5), filters=[filters.BitRound(keepbits=5)])
    for name in ("BZ2", "LZMA", "LZ4", "Zlib", "CRC32", "Adler32", "CRC32C"):
        yield f"v3.{name}", f8, dict(chunks=(8, 5), compressors=[filters.Shuffle(elementsize=8), getattr(filters, name)()])
    old = dict(zarr_format=2, chunks=(8, 5))
    yield "v2.F", f8, old | dict(order="F")
    for name, order, codec in (("delta", "C", numcodecs.Delta("<i4", "<i2")), ("delta.F", "F", numcodecs.Delta("<i4", "<i8"))):
        yield f"v2.{name}", i4, old | dict(order=order, filters=[codec, numcodecs.Shuffle(2)])
    yield "v2.scaled", (f8 * 2).round() / 2, old | dict(filters=[numcodecs.FixedScaleOffset(-100, 2, "<f8", "<u2")])
    yield "v2.scaled.f4", (f8 * 2).round().astype("f4"), old | dict(filters=[numcodecs.FixedScaleOffset(1, 3, "<f4", "i2")])
    yield "v2.quantized", f8, old | dict(filters=[numcodecs.Quantize(2, "<f8", "<f4")])
    yield "v2.rounded", f8.astype("f4"), old | dict(filters=[numcodecs.BitRound(7)])
    yield "v2.blosc", f8, old | dict(compressors=numcodecs.Blosc("zstd", shuffle=numcodecs.Blosc.BITSHUFFLE))
    for codec in (numcodecs.BZ2(), numcodecs.LZMA(), numcodecs.LZMA(format=2)):
        yield f"v2.{codec.codec_id}.{getattr(codec, 'format', 0)}", f8, old | dict(compressors=codec)


def by_tensorstore(path, **spec):
    driver = "zarr" if (path / ".zarray").exists() else "zarr3"
    more = {"create": True} if spec else {"open": True, "read": True}
    return tensorstore.open({"driver": driver, "kvstore": {"driver": "file", "path": str(path)}} | spec, **more).result()


def write_tensorstore(folder):
    """Makes stores with TensorStore's required options only."""
    layouts = {"default": {}, "read_chunks": {"read_chunk": [5, 4]}, "both": {"read_chunk": [5, 4], "write_chunk": [20, 8]}}
    for name, layout in layouts.items():
        for kind in ("float64", "bfloat16"):
            chunks = {which: {"shape": shape} for which, shape in layout.items()}
            schema = {"domain": {"shape": list(SHAPE)}, "dtype": kind, "chunk_layout": chunks}
            store = by_tensorstore(folder / f"ts.{name}.{kind}.zarr", schema=schema)
            store[...].write(np.asarray(VALUES // 4, store.dtype.numpy_dtype)).result()
            np.save(folder / f"ts.{name}.{kind}.npy", store.read().result())


def write(folder):
    for name, values, how in arrays():
        chain = how.pop("codecs", None)
        if chain:
            how |= dict(serializer=chain[0], compressors=chain[1:], filters=[])
        array = zarr.create_array(folder / f"{name}.zarr", shape=values.shape, dtype=values.dtype, fill_value=7, **how)
        array[:30] = values[:30]  # some chunks are missing
        np.save(folder / f"{name}.npy", array[:])
    with zarr.storage.ZipStore(folder / "v3.zip", mode="w") as store:
        zarr.create_group(store).create_array("g/x", data=VALUES, chunks=(8, 5))
    np.save(folder / "v3.npy", VALUES)
    if tensorstore:
        write_tensorstore(folder)


def check_by_others(path, name, values):
    """Checks that every pipeline of codecs and TensorStore read the same numbers."""
    for pipeline in PIPELINES:
        with zarr.config.set({"codec_pipeline.path": pipeline}):
            assert np.array_equal(zarr.open_consolidated(path, mode="r")[name][:], values), (path, name, pipeline)
    if tensorstore:
        assert np.array_equal(by_tensorstore(path / name).read().result(), values), (path, name)


def check_saved(folder):
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 6, names
    for name in names:
        for array, values in (("t", VALUES), ("g/u", VALUES + 1)):
            check_by_others(folder / name, array, values)
        if xarray:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with xarray.open_zarr(folder / name) as found:
                    assert np.array_equal(found.t, VALUES) and found.t.dims == ("y", "x"), found
        print(f"{name}: as zarr{' and xarray read' if xarray else ' reads'} it")


with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root)
    for name in ("in", "out", "grow"):
        (folder / name).mkdir()
    write(folder / "in")
    for name in GROWING:
        shutil.copytree(folder / f"in/{name}.zarr", folder / f"grow/{name}.zarr")
    subprocess.run([*sys.argv[1:], "[.zarr_python]"], env=os.environ | {"HEATPP_ZARR_FILES": root}, check=True)
    check_saved(folder / "out")
    for name in GROWING:
        values = np.load(folder / f"in/{name}.npy")
        assert np.array_equal(zarr.open_array(folder / f"grow/{name}.zarr", mode="r")[:], np.concatenate([values, values])), name
        print(f"{name}: has grown")
