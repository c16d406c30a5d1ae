"""The sparse matrices of the benchmarks, and scipy's products of them."""
import functools
import os

import numpy as np
import scipy.io
import scipy.sparse
import scipy.sparse.linalg

import data
from turns import workload


def laplacian(side):
    """Returns a matrix with 6 on the diagonal and -1 for the neighbors on a grid of side^3 points."""
    n, position = side**3, np.arange(side**3, dtype=np.int32)
    beside = lambda stride: -1.0 * (position[: n - stride] // stride % side < side - 1)
    near = [beside(stride) for stride in (1, side, side * side)]
    offsets = [0, 1, -1, side, -side, side * side, -side * side]
    a = scipy.sparse.diags_array([np.full(n, 6.0)] + [d for one in near for d in (one, one)], offsets=offsets, format="csr")
    a.eliminate_zeros()
    a.sort_indices()
    return a


def random_graph():
    """Returns ten random edges for each of 10^6 vertices."""
    n, edges = 1_000_000, 10
    to = np.sort((data.hashes(132, 0, n * edges) % np.uint64(n)).astype(np.int32).reshape(n, edges), axis=1)
    kept = np.concatenate([np.ones((n, 1), bool), to[:, 1:] != to[:, :-1]], axis=1)
    weights = data.vector("uniform", 133, 0, n * edges).astype(np.float64).reshape(n, edges)
    row_ptr = np.concatenate([[0], np.cumsum(kept.sum(1))]).astype(np.int32)
    return scipy.sparse.csr_array((weights[kept], to[kept], row_ptr), shape=(n, n))


def numbers(*shape):
    return data.vector("normal", 131, 0, int(np.prod(shape))).astype(np.float64).reshape(shape)


def product(a, *shape):
    x = numbers(*shape)
    return lambda: a @ x, data.check_sums


def entries(c):
    c.sort_indices()
    return data.check_sums(c.data)


@workload("spmv")
def spmv():
    return product(laplacian(200), 8_000_000)


@workload("spmv_random")
def spmv_random():
    return product(random_graph(), 1_000_000)


@workload("spmm")
def spmm():
    return product(random_graph(), 1_000_000, 32)


@workload("spgemm")
def spgemm():
    a = laplacian(100)
    return lambda: a @ a, entries


@workload("cg")
def cg():
    a, b = laplacian(128), numbers(128**3)
    return lambda: scipy.sparse.linalg.cg(a, b, rtol=0, maxiter=50)[0], data.check_sums


def sparse_file(whose, ending):
    return os.path.join(os.environ.get("HEATPP_BENCH_DATA", "."), f"{whose}_sparse.{ending}")


def read_group(path):
    import anndata
    import h5py

    with h5py.File(path) as file:
        return anndata.io.read_elem(file["X"])


def write_group(path, a):
    import anndata
    import h5py

    with h5py.File(path, "w") as file:
        anndata.io.write_elem(file, "X", scipy.sparse.csr_matrix(a))


# These are scipy, and AnnData for HDF5. They read a matrix by rows, as ours.
FORMATS = {
    "mtx": (lambda path: scipy.io.mmread(path).tocsr(), scipy.io.mmwrite),
    "npz": (scipy.sparse.load_npz, lambda path, a: scipy.sparse.save_npz(path, a, compressed=False)),
    "h5": (read_group, write_group),
}


def load(ending):
    read, write = FORMATS[ending]
    path = sparse_file("scipy", ending)
    write(path, laplacian(64) / 3)
    return lambda: read(path), entries


def save(ending):
    read, write = FORMATS[ending]
    a, path = laplacian(64) / 3, sparse_file("saved_by_scipy", ending)
    return lambda: write(path, a), lambda _: entries(read(path))


for ending in FORMATS:
    workload(f"sparse_load.{ending}")(functools.partial(load, ending))
    workload(f"sparse_save.{ending}")(functools.partial(save, ending))
