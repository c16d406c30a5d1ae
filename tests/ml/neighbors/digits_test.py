"""Tests that graphs of scikit-learn's digits equal scikit-learn's: digits_test.py MPIEXEC ... TEST. Ends with 77, which
ctest shows as skipped, if scikit-learn is missing."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components
    from sklearn.cluster import DBSCAN, SpectralClustering
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    digits = load_digits()
    np.save(folder / "digits.npy", digits.data)
    np.save(folder / "kinds.npy", digits.target.astype(np.int64))
    scipy.sparse.save_npz(folder / "distances.npz", kneighbors_graph(digits.data, 10, mode="distance"))
    whole = digits.data.astype(np.int64)
    squares = np.array([((whole - row) ** 2).sum(1) for row in whole])
    np.fill_diagonal(squares, squares.max() + 1)
    lowest = np.argsort(squares, axis=1, kind="stable")[:, :10]
    rows = np.repeat(np.arange(len(whole)), 10)
    graph = scipy.sparse.coo_matrix((np.ones(lowest.size), (rows, lowest.ravel())), shape=squares.shape).tocsr()
    scipy.sparse.save_npz(folder / "lowest.npz", graph)
    both = (graph + graph.T) / 2
    product = both @ (np.arange(len(whole)) % 7 + 1)
    np.save(folder / "values.npy", np.array([both.nnz, connected_components(both)[0], product.sum(), (product**2).sum()]))
    scipy.sparse.save_npz(folder / "radius.npz", radius_neighbors_graph(digits.data, 20, mode="distance"))
    np.save(folder / "labels.npy", DBSCAN(eps=20, min_samples=5).fit(digits.data).labels_)
    # Each row has nine others and itself as neighbors, as affinity="nearest_neighbors" counts.
    near = scipy.sparse.coo_matrix((np.ones(lowest[:, :9].size), (np.repeat(np.arange(len(whole)), 9), lowest[:, :9].ravel())),
                                   shape=squares.shape).tocsr()
    spectral = SpectralClustering(10, affinity="precomputed", random_state=0).fit((near + near.T) / 2)
    np.save(folder / "spectral.npy", spectral.labels_.astype(np.int64))
    subprocess.run([*sys.argv[1:], "[.digits]"], check=True, env={**os.environ, "HEATPP_DIGITS": str(folder)})
