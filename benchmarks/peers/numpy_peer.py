"""NumPy, SciPy and h5py in one process: python numpy_peer.py NAME"""
import os
from glob import glob

import numpy as np

import data
import learning  # noqa: F401: registers its workloads
import matrices  # noqa: F401: likewise
from turns import main, workload


def scalar(value):
    return [float(value)]


@workload("chain")
def chain():
    a, b, c = (data.vector("uniform", seed, 0, 20_000_000) for seed in (11, 12, 13))
    return lambda: (np.sqrt(a * a + b * b) * c - a / (b * b + 1)).sum(), scalar


@workload("cumsum")
def cumsum():
    x = data.vector("normal", 76, 0, 20_000_000)
    return lambda: np.cumsum(x), data.check_sums


@workload("randn")
def randn():
    generator = np.random.default_rng(1)
    draw = lambda: generator.standard_normal(50_000_000, dtype=np.float32)
    return draw, lambda x: [x.mean(dtype=np.float64), np.square(x, dtype=np.float64).mean()]


@workload("fft2")
def fft2():
    from scipy.fft import fft2 as transform

    x = data.complex_rows(111, 4096, 4096)
    return lambda: transform(x, workers=2), data.check_complex


@workload("fft1d")
def fft1d():
    from scipy.fft import fft as transform

    x = data.complex_rows(113, 1 << 22)
    return lambda: transform(x, workers=2), data.check_complex


@workload("conv1d")
def conv1d():
    from scipy.signal import oaconvolve

    x, taps = data.vector("normal", 71, 0, 10_000_000), data.vector("uniform", 131, 0, 65)
    return lambda: oaconvolve(x, taps, mode="same"), data.check_sums


@workload("argmax")
def argmax():
    x = data.vector("normal", 76, 0, 20_000_000)
    return lambda: x.argmax(), scalar


@workload("fancy")
def fancy():
    x, at = data.vector("normal", 71, 0, 10_000_000), data.vector("position", 121, 0, 1_000_000)
    return lambda: x[at], data.check_sums


@workload("sum")
def sum_of_all():
    x = data.vector("uniform", 11, 0, 100_000_000)
    return lambda: x.sum(), scalar


@workload("dot")
def dot():
    x = data.vector("uniform", 11, 0, 100_000_000)
    return lambda: np.vdot(x, x), scalar


@workload("latency")
def latency():
    x = data.vector("uniform", 11, 0, 100)

    def thousand_sums():
        for _ in range(1000):
            total = x.sum()
        return total

    return thousand_sums, scalar


@workload("moments")
def moments():
    from scipy import stats

    x = data.moments_rows(0, 10_000_000)
    return (
        lambda: (x.mean(0), x.var(0), stats.skew(x, 0), stats.kurtosis(x, 0)),
        lambda result: data.check_values(*result),
    )


@workload("sort")
def sort():
    x = data.vector("normal", 71, 0, 10_000_000)
    return lambda: np.sort(x), data.check_sums


@workload("unique")
def unique():
    x = data.vector("integer", 72, 0, 10_000_000)
    return lambda: np.unique(x), data.check_sums


@workload("describe")
def describe():
    x = data.moments_rows(0, 5_000_000).astype(np.float64)
    return lambda: (x.mean(0), x.std(0), x.min(0), x.max(0)), lambda result: data.check_values(*result)


@workload("histogram")
def histogram():
    x = data.vector("normal", 71, 0, 10_000_000)
    return lambda: np.histogram(x, 100, (-4, 4))[0], data.check_sums


@workload("bincount")
def bincount():
    x = data.vector("integer", 72, 0, 10_000_000)
    return lambda: np.bincount(x), data.check_sums


@workload("argsort")
def argsort():
    x = data.vector("normal", 71, 0, 10_000_000)
    return lambda: np.argsort(x, kind="stable"), data.check_sums


@workload("searchsorted")
def searchsorted():
    a, v = data.rising(), data.vector("uniform", 122, 0, 10_000_000)
    return lambda: np.searchsorted(a, v), data.check_sums


@workload("isin")
def isin():
    x, test = data.vector("integer", 72, 0, 10_000_000), data.vector("integer", 123, 0, 1_000)
    return lambda: np.isin(x, test), data.check_sums


@workload("integers")
def integers():
    generator = np.random.default_rng(1)
    return lambda: generator.integers(0, 1000, 20_000_000), lambda x: [x.mean(), x.var()]


@workload("permutation")
def permutation():
    generator = np.random.default_rng(1)
    return lambda: generator.permutation(10_000_000), lambda x: [x.sum(), x.max(), np.abs(x - np.arange(x.size)).mean()]


@workload("einsum")
def einsum():
    a, b = data.stack(77), data.stack(78)
    return lambda: np.matmul(a, b), lambda c: data.check_sums(c.reshape(-1, 128))


@workload("rfft")
def rfft():
    from scipy.fft import rfft as transform

    x = data.rows("normal", 115, 0, 4096, 4096)
    return lambda: transform(x, workers=2), data.check_complex


@workload("median")
def median():
    x = data.vector("normal", 71, 0, 10_000_000)
    return lambda: np.median(x), scalar


@workload("percentile25")
def percentile25():
    x = data.vector("normal", 71, 0, 10_000_000)
    return lambda: np.percentile(x, 25), scalar


@workload("resplit01")
def resplit01():
    x = data.rows("normal", 64, 0, 8000, 8000)
    return lambda: (x[:, :4000].copy(), x[:, 4000:].copy()), lambda halves: data.check_sums(np.hstack(halves))


@workload("resplit10")
def resplit10():
    x = data.rows("normal", 64, 0, 8000, 8000)
    halves = x[:, :4000].copy(), x[:, 4000:].copy()
    return lambda: np.hstack(halves), data.check_sums


@workload("matmul_00", "matmul_01", "matmul_10", "matmul_11", "matmul_0N", "matmul_N1")
def matmul():
    a, b = (data.rows("normal", seed, 0, 3000, 3000) for seed in (73, 74))
    return lambda: a @ b, data.check_sums


@workload("qr")
def qr():
    x = data.rows("normal", 75, 0, 200_000, 128)
    return lambda: np.linalg.qr(x), lambda parts: data.check_sums(np.abs(parts.R))


@workload("mask")
def mask():
    x = data.vector("normal", 71, 0, 10_000_000)
    return lambda: x[x > 0], data.check_sums


@workload("mask_put")
def mask_put():
    x = data.vector("normal", 71, 0, 10_000_000)

    def put():
        x[x > 0] = 0.5
        return x

    return put, data.check_sums


def _load(pattern):
    import h5py

    paths = sorted(glob(os.path.join(os.environ["HEATPP_BENCH_DATA"], pattern)))

    def read(path):
        with h5py.File(path, "r") as file:
            return file["data"][...]

    return lambda: read(paths[0]) if len(paths) == 1 else np.concatenate([read(path) for path in paths]), data.check_sums


workload("hdf5_load0.file")(lambda: _load("contiguous.h5"))
workload("hdf5_load0.shards")(lambda: _load("shard-*.h5"))
workload("hdf5_gzip0")(lambda: _load("gzip.h5"))


@workload("hdf5_save")
def hdf5_save():
    import h5py

    x = data.rows("byte", 91, 0, 262_144, 512)
    path = os.path.join(os.environ["HEATPP_BENCH_DATA"], "saved_by_numpy.h5")

    def save():
        with h5py.File(path, "w") as file:
            file["data"] = x

    def read_back(_):
        with h5py.File(path) as file:
            return data.check_sums(file["data"][...])

    return save, read_back


if __name__ == "__main__":
    main()
