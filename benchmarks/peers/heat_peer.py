"""HeAT, one thread a rank: mpirun -n 2 python heat_peer.py NAME"""
import os
import sys

import heat as ht
import numpy as np
import torch

import data
from ranks import Ranks, world
from turns import main, workload

torch.set_num_threads(1)


def split(block, axis=0):
    return ht.array(torch.from_numpy(np.ascontiguousarray(block)), is_split=axis, copy=False)


def mine(extent):
    return data.share(extent, world.size, world.rank)


def vector(stream, seed, extent):
    return split(data.vector(stream, seed, *mine(extent)))


def matrix(stream, seed, height, width, axis=0):
    if axis == 0:
        return split(data.rows(stream, seed, *mine(height), width))
    return split(data.columns(stream, seed, height, width, *mine(width)), 1)


def check_sums(x):
    offset = [0, 0]
    offset[x.split] = sum(world.allgather(x.lshape[x.split])[: world.rank])
    return world.allreduce(data.check_sums(x.larray.numpy(), *offset))


def scalar(value):
    return [value]


@workload("chain")
def chain():
    a, b, c = (vector("uniform", seed, 20_000_000) for seed in (11, 12, 13))
    return lambda: (ht.sqrt(a * a + b * b) * c - a / (b * b + 1)).sum().item(), scalar


@workload("cumsum")
def cumsum():
    x = vector("normal", 76, 20_000_000)
    return lambda: ht.cumsum(x, 0), check_sums


@workload("randn")
def randn():
    def moments(x):
        sums = world.allreduce(np.array([x.larray.double().sum().item(), x.larray.double().square().sum().item()]))
        return list(sums / x.size)

    return lambda: ht.random.randn(50_000_000, split=0), moments


@workload("conv1d")
def conv1d():
    x, taps = vector("normal", 71, 10_000_000), ht.array(data.vector("uniform", 131, 0, 65))
    return lambda: ht.convolve(x, taps, mode="same"), check_sums


@workload("argmax")
def argmax():
    x = vector("normal", 76, 20_000_000)
    return lambda: ht.argmax(x).item(), lambda position: [position]


@workload("latency")
def latency():
    x = vector("uniform", 11, 100)

    def thousand_sums():
        for _ in range(1000):
            total = x.sum()
        return total.item()

    return thousand_sums, scalar


@workload("moments")
def moments():
    x = split(data.moments_rows(*mine(10_000_000)))

    def four():
        return ht.mean(x, 0), ht.var(x, 0), ht.skew(x, 0, unbiased=False), ht.kurtosis(x, 0, unbiased=False)

    return four, lambda result: data.check_values(*(y.numpy() for y in result))


@workload("sort")
def sort():
    x = vector("normal", 71, 10_000_000)
    return lambda: ht.sort(x, axis=0)[0], check_sums


@workload("unique")
def unique():
    x = vector("integer", 72, 10_000_000)
    return lambda: ht.unique(x, sorted=True), check_sums


@workload("median")
def median():
    x = vector("normal", 71, 10_000_000)
    return lambda: ht.median(x).item(), scalar


@workload("percentile25")
def percentile25():
    x = vector("normal", 71, 10_000_000)
    return lambda: ht.percentile(x, 25.0).item(), scalar


@workload("resplit01")
def resplit01():
    x = matrix("normal", 64, 8000, 8000)
    return lambda: ht.resplit(x, 1), check_sums


@workload("resplit10")
def resplit10():
    x = matrix("normal", 64, 8000, 8000, 1)
    return lambda: ht.resplit(x, 0), check_sums


@workload("matmul_00", "matmul_01", "matmul_10", "matmul_11", "matmul_0N", "matmul_N1")
def matmul():
    splits = sys.argv[1].removeprefix("matmul_")
    a, b = (
        ht.array(data.rows("normal", seed, 0, 3000, 3000)) if axis == "N" else matrix("normal", seed, 3000, 3000, int(axis))
        for seed, axis in zip((73, 74), splits)
    )
    return lambda: a @ b, check_sums


@workload("qr")
def qr():
    x = matrix("normal", 75, 200_000, 128)
    return lambda: ht.linalg.qr(x), lambda parts: data.check_sums(np.abs(parts.R.numpy()))


def _distances(**how):
    x = matrix("normal", 61, 10_000, 18)
    return lambda: ht.spatial.cdist(x, **how), check_sums


workload("cdist")(lambda: _distances())
workload("cdist_qe")(lambda: _distances(quadratic_expansion=True))


@workload("pca")
def pca():
    x = split(data.falling_rows(*mine(100_000)))
    model = ht.decomposition.PCA(n_components=10, svd_solver="full")
    return lambda: model.fit(x), lambda fitted: data.check_values(fitted.singular_values_.numpy())


@workload("hsvd")
def hsvd():
    x = split(data.falling_rows(*mine(100_000)))
    return lambda: ht.linalg.hsvd_rank(x, 10, compute_sv=True), lambda parts: data.check_values(parts[1].numpy())


@workload("mask")
def mask():
    x = vector("normal", 71, 10_000_000)
    return lambda: x[x > 0], check_sums


@workload("mask_put")
def mask_put():
    x = vector("normal", 71, 10_000_000)

    def put():
        x[x > 0] = 0.5
        return x

    return put, check_sums


def _load(file, axis):
    path = os.path.join(os.environ["HEATPP_BENCH_DATA"], file)
    return lambda: ht.load_hdf5(path, "data", dtype=ht.float32, split=axis), check_sums


# HeAT reads one file, so there is no workload for shards.
for _axis in (0, 1):
    workload(f"hdf5_load{_axis}.file")(lambda axis=_axis: _load("contiguous.h5", axis))
    workload(f"hdf5_gzip{_axis}")(lambda axis=_axis: _load("gzip.h5", axis))


@workload("hdf5_save")
def hdf5_save():
    x = matrix("byte", 91, 262_144, 512)
    path = os.path.join(os.environ["HEATPP_BENCH_DATA"], "saved_by_heat.h5")

    def save():
        ht.save_hdf5(x, path, "data")
        world.Barrier()

    def read_back(_):
        sums = check_sums(ht.load_hdf5(path, "data", split=0))
        world.Barrier()
        return sums

    return save, read_back


if __name__ == "__main__":
    main(Ranks())
