"""Compares every operation on sparse matrices with scipy's: scipy_test.py MPIEXEC FLAG RANKS ... TEST, for each of the
numbers of ranks. Ends with 77, which ctest shows as skipped, if there is no scipy."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sparse
    from scipy.sparse import csgraph
    from scipy.sparse.linalg import norm
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

random = np.random.default_rng(3)


def matrix(rows, columns, dtype=np.float64, density=0.3, empty=()):
    """Returns a matrix with empty rows and columns, and some entries that are 0."""
    a = sparse.random_array((rows, columns), density=density, rng=random, format="lil")
    for row in empty:
        a[row] = 0
        a[:, row % max(columns, 1)] = 0
    a = a.tocsr()
    a.data = np.round(a.data * 40 - 20)
    return (a * (1 + 2j) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


def cases():
    yield "real", matrix(9, 7, empty=[1, 4])
    yield "tall", matrix(13, 3)
    yield "wide", matrix(2, 11)
    yield "square", matrix(8, 8, empty=[3])
    yield "one", matrix(1, 1, density=1)
    yield "float32", matrix(10, 6, np.float32)
    yield "int64", matrix(9, 9, np.int64, density=0.5)
    yield "int32", matrix(5, 12, np.int32)
    yield "complex128", matrix(7, 7, np.complex128, empty=[0])
    yield "complex64", matrix(6, 9, np.complex64)
    yield "no_rows", sparse.csr_array((0, 4))
    yield "no_columns", sparse.csr_array((5, 0))
    yield "no_entries", sparse.csr_array((6, 6))
    yield "full", matrix(6, 5, density=1)
    nan = matrix(7, 6)
    nan.data[::3] = np.nan
    yield "nan", nan


def results(a, b, c, x, across, down, rows, columns):
    r, k = a.shape
    conjugate = a.conj().T
    yield "matmul", a @ x
    yield "matvec", a @ x[:, 0]
    yield "rmatmul", conjugate @ down
    yield "spgemm", a @ c
    yield "gram", conjugate @ a
    yield "transpose", a.T
    yield "add", a + b
    yield "subtract", a - b
    yield "multiply", np.where(b.toarray() != 0, a.multiply(b).toarray(), 0)  # without NaN where only one has an entry
    yield "twice", 2 * a
    yield "quarter", a / 4
    yield "negative", -a
    yield "abs", abs(a)
    yield "conj", a.conj()
    yield "square", a.power(2)
    yield "scale_rows", sparse.diags_array(down[:, 0], shape=(r, r), dtype=a.dtype) @ a if r else a
    yield "scale_columns", a @ sparse.diags_array(across, shape=(k, k), dtype=a.dtype) if k else a
    yield "tril", sparse.tril(a, 1)
    yield "triu", sparse.triu(a, -1)
    yield "diagonal", a.diagonal()
    yield "part", a[1:r:2, 0 : max(k - 1, 0)]
    yield "rows", a[rows]
    yield "columns", a[:, columns]
    yield "masked", a[rows_mask(r)]
    yield "vstack", sparse.vstack([a, b])
    yield "hstack", sparse.hstack([a, b])
    yield "block_diag", sparse.block_diag([a, c])
    yield "sum", a.sum()
    yield "norm", norm(sparse.csr_matrix(a))
    dense = a.toarray()
    yield "count_nonzero", np.count_nonzero(dense)
    for axis in (0, 1):
        yield f"sum{axis}", a.sum(axis=axis)
        if dense.shape[axis] == 0:
            continue
        yield f"mean{axis}", a.mean(axis=axis)
        if np.iscomplexobj(dense) or dense.size == 0:
            continue
        for name in ("max", "min"):
            yield f"{name}{axis}", getattr(a, name)(axis=axis).toarray()
        if not np.isnan(dense).any():  # where the first one is: scipy takes any of those without an entry
            yield f"argmax{axis}", dense.argmax(axis)
            yield f"argmin{axis}", dense.argmin(axis)
    if dense.size and not np.iscomplexobj(dense):
        yield "max", a.max()
        yield "min", a.min()
        if not np.isnan(dense).any():
            yield "argmax", dense.argmax()
            yield "argmin", dense.argmin()
    if r == k and not np.iscomplexobj(dense):
        weights = abs(a + a.T)
        yield "laplacian", csgraph.laplacian(weights)
        if weights.nnz:
            yield "normalized", csgraph.laplacian(weights.astype(float), normed=True)
        weights.eliminate_zeros()
        yield "components", csgraph.connected_components(weights, directed=False)[1]


def rows_mask(n):
    return np.arange(n) % 3 != 1


def write(folder, a):
    folder.mkdir()
    r, k = a.shape
    b, c = matrix(r, k, a.dtype, empty=[0] if r else []) if r * k else a, matrix(k, 5, a.dtype) if k else sparse.csr_array((0, 5))
    x, down = (np.round(random.normal(size=(n, 3)) * 9).astype(a.dtype) for n in (k, r))
    across = np.arange(1.0, k + 1).astype(a.dtype)
    rows, columns = (random.integers(-n, n, 6) if n else np.zeros(0, np.int64) for n in (r, k))
    for name, part in (("a", a), ("b", b), ("c", c)):
        sparse.save_npz(folder / f"{name}.npz", sparse.csr_matrix(part))
    made = {name: np.array(found.toarray() if sparse.issparse(found) else found, order="C")
            for name, found in results(a, b, c, x, across, down, rows, columns)}
    wide = np.complex128 if np.iscomplexobj(a.data) else np.float64
    np.savez(folder / "given.npz", x=x, down=down, across=across, rows=rows, columns=columns, mask=rows_mask(r))
    np.savez(folder / "expected.npz", **{name: found.astype(wide) for name, found in made.items()})
    (folder / "names").write_text("\n".join(made))
    return len(made)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    count = sum(write(folder / case, a) for case, a in cases())
    ranks = [argument for argument in sys.argv[3:] if argument.isdigit()]
    for number in ranks:
        subprocess.run([*sys.argv[1:3], number, *sys.argv[3 + len(ranks):], "[.scipy]"], check=True,
                       env={**os.environ, "HEATPP_SPARSE_CASES": str(folder)})
    print(f"{count} results of scipy's over every layout on {', '.join(ranks)} ranks")
