"""Dask's arrays, threaded scheduler, as many workers as heatpp has ranks: python dask_peer.py NAME"""
import os
from glob import glob

import dask
import dask.array as da
import h5py
import numpy as np

import data
from turns import main, workload

workers = int(os.environ.get("HEATPP_BENCH_RANKS", "2"))
dask.config.set(scheduler="threads", num_workers=workers)


def made(piece, shape, chunks, dtype=np.float32):
    """Returns an array in memory; `piece` gets the (first, last) pairs of each axis."""

    def chunk(block_info=None):
        return piece(*block_info[None]["array-location"])

    sizes = da.core.normalize_chunks(chunks, shape)
    return da.map_blocks(chunk, chunks=sizes, dtype=dtype, meta=np.empty((0,) * len(shape), dtype)).persist()


def vector(stream, seed, extent, chunks=10):
    dtype = np.int32 if stream == "integer" else np.float32
    return made(lambda r: data.vector(stream, seed, *r), (extent,), (-(-extent // chunks),), dtype)


def rows(stream, seed, height, width):
    return made(lambda r, _: data.rows(stream, seed, *r, width), (height, width), (-(-height // workers), width))


def columns(stream, seed, height, width):
    return made(
        lambda _, c: data.columns(stream, seed, height, width, *c), (height, width), (height, -(-width // workers))
    )


def check_sums(x):
    return data.check_sums(x.compute())


def scalar(value):
    return [float(np.ravel(value)[0])]


@workload("chain")
def chain():
    a, b, c = (vector("uniform", seed, 20_000_000, 20) for seed in (11, 12, 13))
    return lambda: (da.sqrt(a * a + b * b) * c - a / (b * b + 1)).sum().compute(), scalar


@workload("cumsum")
def cumsum():
    x = vector("normal", 76, 20_000_000)
    return lambda: da.cumsum(x, axis=0).persist(), check_sums


@workload("randn")
def randn():
    def draw():
        return da.random.default_rng(1).standard_normal(50_000_000, chunks=5_000_000, dtype=np.float32).persist()

    return draw, lambda x: [float(x.mean(dtype="f8").compute()), float((x.astype("f8") ** 2).mean().compute())]


@workload("conv1d")
def conv1d():
    from scipy.signal import oaconvolve

    x, taps = vector("normal", 71, 10_000_000), data.vector("uniform", 131, 0, 65)

    def convolve(block):
        return oaconvolve(block, taps, mode="same")

    return lambda: da.overlap.map_overlap(convolve, x, depth=32, boundary=0, dtype=np.float32).persist(), check_sums


@workload("argmax")
def argmax():
    x = vector("normal", 76, 20_000_000)
    return lambda: da.argmax(x).compute(), lambda position: [float(position)]


@workload("latency")
def latency():
    x = vector("uniform", 11, 100, 2)

    def thousand_sums():
        for _ in range(1000):
            total = x.sum().compute()
        return total

    return thousand_sums, scalar


@workload("moments")
def moments():
    from dask.array import stats

    x = made(lambda r, _: data.moments_rows(*r), (10_000_000, 8), (500_000, 8))

    def four():
        return dask.compute(x.mean(0), x.var(0), stats.skew(x, 0), stats.kurtosis(x, 0))

    return four, lambda result: data.check_values(*result)


@workload("unique")
def unique():
    x = vector("integer", 72, 10_000_000, 10)
    return lambda: da.unique(x).compute(), data.check_sums


@workload("median")
def median():
    x = vector("normal", 71, 10_000_000, workers)
    return lambda: da.median(x, axis=0).compute(), scalar


@workload("percentile25")
def percentile25():
    x = vector("normal", 71, 10_000_000, workers)
    return lambda: da.percentile(x, 25).compute(), scalar


@workload("resplit01")
def resplit01():
    x = rows("normal", 64, 8000, 8000)
    return lambda: x.rechunk((8000, -(-8000 // workers))).persist(), check_sums


@workload("resplit10")
def resplit10():
    x = columns("normal", 64, 8000, 8000)
    return lambda: x.rechunk((-(-8000 // workers), 8000)).persist(), check_sums


@workload("matmul_00")
def matmul():
    half = -(-3000 // workers)
    a, b = (rows("normal", seed, 3000, 3000).rechunk((half, half)).persist() for seed in (73, 74))
    return lambda: (a @ b).persist(), check_sums


@workload("mask")
def mask():
    x = vector("normal", 71, 10_000_000)
    return lambda: x[x > 0].persist(), check_sums


def _load(pattern, axis):
    paths = sorted(glob(os.path.join(os.environ["HEATPP_BENCH_DATA"], pattern)))

    def load():
        files = [h5py.File(path, "r") for path in paths]
        try:
            parts = [file["data"] for file in files]
            height, width = sum(len(part) for part in parts), parts[0].shape[1]
            chunks = (-(-height // workers), width) if axis == 0 else (height, -(-width // workers))
            arrays = [da.from_array(part, chunks=tuple(map(min, chunks, part.shape))) for part in parts]
            return (arrays[0] if len(arrays) == 1 else da.concatenate(arrays)).persist()
        finally:
            for file in files:
                file.close()

    return load, check_sums


for _axis in (0, 1):
    workload(f"hdf5_load{_axis}.file")(lambda axis=_axis: _load("contiguous.h5", axis))
    workload(f"hdf5_load{_axis}.shards")(lambda axis=_axis: _load("shard-*.h5", axis))
    workload(f"hdf5_gzip{_axis}")(lambda axis=_axis: _load("gzip.h5", axis))


@workload("hdf5_save")
def hdf5_save():
    x = rows("byte", 91, 262_144, 512)
    path = os.path.join(os.environ["HEATPP_BENCH_DATA"], "saved_by_dask.h5")

    def save():
        if os.path.exists(path):
            os.remove(path)
        da.to_hdf5(path, "/data", x, chunks=None)

    def read_back(_):
        with h5py.File(path) as file:
            return data.check_sums(file["data"][...])

    return save, read_back


if __name__ == "__main__":
    main()
