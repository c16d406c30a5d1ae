"""Compares what the program heatpp does with sparse matrices with SciPy."""

import numpy as np
from tool import check, close, main, run, run_json


def test_sparse(folder):
    try:
        import scipy.io
        import scipy.sparse
    except ImportError:
        return
    matrix = scipy.sparse.random_array((30, 20), density=0.1, rng=np.random.default_rng(1), format="csr")
    scipy.sparse.save_npz(folder / "sparse.npz", matrix)
    run("convert", folder / "sparse.npz", folder / "sparse.mtx")
    check((scipy.sparse.csr_array(scipy.io.mmread(folder / "sparse.mtx")) != matrix).nnz == 0, "convert writes Matrix Market")
    for name in ("sparse.npz", "sparse.mtx"):
        said = run_json("describe", folder / name)
        check(said["shape"] == [30, 20] and said["entries"] == matrix.nnz, f"describe counts the entries of {name}")
        check(close(said["values"]["max"], matrix.data.max()), f"describe finds the largest entry of {name}")
        check("30 x 20 sparse of float64" in run("describe", folder / name), f"describe tells {name} in words")


main(test_sparse)
