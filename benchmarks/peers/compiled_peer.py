"""Compilers that fuse formulas, and libraries for one task, each with as many threads as heatpp has ranks:
python compiled_peer.py NAME PEER. A call before the warm-up compiles."""
import os
import sys

THREADS = int(os.environ.get("HEATPP_BENCH_RANKS", "2"))
PEER = sys.argv[2]
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), str(THREADS))

import numpy as np

import data
from turns import main, workload


def vectors():
    return [data.vector("uniform", seed, 0, 20_000_000) for seed in (11, 12, 13)]


def numbers():
    return [data.vector("uniform", 11, 0, 100_000_000)]


def columns():
    return [data.moments_rows(0, 5_000_000).astype(np.float64)]


def taken():
    return [data.vector("normal", 71, 0, 10_000_000), data.vector("position", 121, 0, 1_000_000)]


def image():
    return [data.complex_rows(111, 4096, 4096)]


def ten_million():
    return [data.vector("normal", 71, 0, 10_000_000)]


def integers():
    return [data.vector("integer", 72, 0, 10_000_000)]


def searched():
    return [data.rising(), data.vector("uniform", 122, 0, 10_000_000)]


def stacks():
    return [data.stack(77), data.stack(78)]


def key():
    """The seed of two words of a generator of JAX."""
    return [np.array([0, 1], np.uint32)]


def check_permutation(x):
    x = np.asarray(x).astype(np.int64)
    return [x.sum(), x.max(), np.abs(x - np.arange(x.size)).mean()]


def points():
    return [data.rows("normal", 61, 0, 10_000, 18)]


def formula(a, b, c, root):
    return root(a * a + b * b) * c - a / (b * b + 1)


def scalar(value):
    return [float(value)]


def check_columns(result):
    return data.check_values(*(np.asarray(y) for y in result))


def check_sums(result):
    return data.check_sums(np.asarray(result))


def check_complex(result):
    return data.check_complex(np.asarray(result))


def register(name, make, function, check, to=lambda x: x):
    """`to` takes an array of NumPy to the peer."""

    def prepare():
        arrays = [to(x) for x in make()]
        function(*arrays)
        return lambda: function(*arrays), check

    workload(name)(prepare)


def by_jax():
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={THREADS}"
    if os.environ.get("HEATPP_BENCH_ISA") == "avx2":
        os.environ["XLA_FLAGS"] += " --xla_cpu_max_isa=AVX2"
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def compiled(name, make, function, check):
        call = jax.jit(function)
        register(name, make, lambda *arrays: jax.block_until_ready(call(*arrays)), check, jnp.asarray)

    def distances(x):
        d = x[:, None, :] - x[None, :, :]
        return jnp.sqrt((d * d).sum(-1))

    compiled("chain", vectors, lambda a, b, c: formula(a, b, c, jnp.sqrt).sum(), scalar)
    compiled("sum", numbers, jnp.sum, scalar)
    compiled("dot", numbers, lambda x: jnp.dot(x, x), scalar)
    compiled("describe", columns, lambda x: (x.mean(0), x.std(0), x.min(0), x.max(0)), check_columns)
    compiled("fancy", taken, lambda x, at: x[at], check_sums)
    compiled("histogram", ten_million, lambda x: jnp.histogram(x, 100, (-4, 4))[0], check_sums)
    compiled("bincount", integers, lambda x: jnp.bincount(x, length=10_000), check_sums)
    compiled("argsort", ten_million, jnp.argsort, check_sums)
    compiled("searchsorted", searched, lambda a, v: jnp.searchsorted(a, v, method="sort"), check_sums)
    compiled("isin", lambda: [*integers(), data.vector("integer", 123, 0, 1_000)], jnp.isin, check_sums)
    compiled("integers", key, lambda k: jax.random.randint(k, (20_000_000,), 0, 1000), lambda x: [np.mean(x), np.var(x)])
    compiled("permutation", key, lambda k: jax.random.permutation(k, 10_000_000), check_permutation)
    compiled("einsum", stacks, lambda a, b: jnp.einsum("bij,bjk->bik", a, b), lambda c: check_sums(np.asarray(c).reshape(-1, 128)))
    compiled("rfft", lambda: [data.rows("normal", 115, 0, 4096, 4096)], jnp.fft.rfft, check_complex)
    compiled("fft2", image, jnp.fft.fft2, check_complex)
    compiled("cdist", points, distances, check_sums)


def by_torch():
    import torch

    torch.set_num_threads(THREADS)

    def compiled(name, make, function, check):
        register(name, make, torch.compile(function), check, torch.from_numpy)

    compiled("chain", vectors, lambda a, b, c: formula(a, b, c, torch.sqrt).sum(), scalar)
    compiled("sum", numbers, lambda x: x.sum(), scalar)
    compiled("describe", columns, lambda x: (x.mean(0), x.std(0, correction=0), x.amin(0), x.amax(0)), check_columns)
    compiled("cdist", points, lambda x: torch.cdist(x, x), check_sums)


def by_numba():
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def chain(a, b, c):
        total = 0.0
        for i in numba.prange(a.size):
            total += np.sqrt(a[i] * a[i] + b[i] * b[i]) * c[i] - a[i] / (b[i] * b[i] + np.float32(1))
        return total

    @numba.njit(parallel=True, fastmath=True)
    def take(x, at):
        out = np.empty(at.size, x.dtype)
        for i in numba.prange(at.size):
            out[i] = x[at[i]]
        return out

    register("chain", vectors, chain, scalar)
    register("fancy", taken, take, check_sums)


def by_mkl_fft():
    import mkl_fft

    register("fft2", image, mkl_fft.fft2, check_complex)
    register("rfft", lambda: [data.rows("normal", 115, 0, 4096, 4096)], mkl_fft.rfft, check_complex)
    register("fft1d", lambda: [data.complex_rows(113, 1 << 22)], mkl_fft.fft, check_complex)


def by_pyarrow():
    import pyarrow
    import pyarrow.compute

    pyarrow.set_cpu_count(THREADS)
    register("fancy", taken, pyarrow.compute.take, check_sums, pyarrow.array)
    register("sum", numbers, lambda x: pyarrow.compute.sum(x).as_py(), scalar, pyarrow.array)


def by_pydmd():
    import pydmd

    def fitted(x):
        return np.sort(np.abs(pydmd.DMD(svd_rank=6).fit(x).eigs))[::-1]

    register("dmd", lambda: [data.wave_rows(0, 500_000)], fitted, data.check_values)


def by_polars():
    import polars

    def statistics(frame):
        parts = polars.all().mean(), polars.all().std(ddof=0), polars.all().min(), polars.all().max()
        return polars.collect_all([frame.lazy().select(part) for part in parts])

    register("describe", columns, statistics, lambda result: check_columns(part.row(0) for part in result), polars.DataFrame)


{"jax": by_jax, "torch_compile": by_torch, "numba": by_numba, "mkl_fft": by_mkl_fft, "pyarrow": by_pyarrow, "polars": by_polars, "pydmd": by_pydmd}[PEER]()
main()
