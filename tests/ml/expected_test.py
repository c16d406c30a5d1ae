"""Tests that estimators give scikit-learn's values on its data sets, and on Fashion-MNIST if Debian's package of it is
installed: expected_test.py MPIEXEC -n RANKS ... TEST. Ends with 77, which ctest shows as skipped, if scikit-learn is
missing."""

import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse.csgraph
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.neighbors import kneighbors_graph
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")


def images(path):
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)


def labels(path):
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for kind, data in (("digits", load_digits()), ("cancer", load_breast_cancer())):
        np.save(folder / f"{kind}.npy", data.data)
        np.save(folder / f"{kind}_kinds.npy", data.target.astype(np.int64))
    nearest = kneighbors_graph(load_digits().data, 10)
    scipy.sparse.save_npz(folder / "nearest.npz", nearest)
    both = (nearest + nearest.T) / 2
    product = both @ (np.arange(both.shape[0]) % 7 + 1)
    least = np.linalg.eigvalsh(scipy.sparse.csgraph.laplacian(both, normed=True).toarray())[:6]
    np.save(folder / "nearest_values.npy", np.array([both.nnz, product.sum(), (product**2).sum(), *least]))
    tags = ["[.expected]"]
    if FASHION.exists():
        tags.append("[.fashion]")
        for kind, file in (("fashion", "train"), ("fashion_test", "t10k")):
            np.save(folder / f"{kind}.npy", images(FASHION / f"{file}-images-idx3-ubyte.gz"))
            np.save(folder / f"{kind}_kinds.npy", labels(FASHION / f"{file}-labels-idx1-ubyte.gz"))
    ranks = [argument for argument in sys.argv[3:] if argument.isdigit()]
    for number in ranks:
        subprocess.run([*sys.argv[1:3], number, *sys.argv[3 + len(ranks):], ",".join(tags)], check=True,
                       env={**os.environ, "HEATPP_EXPECTED": str(folder)})
