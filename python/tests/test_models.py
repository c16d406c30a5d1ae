"""Estimators, sparse matrices and files."""

import pathlib
import tempfile

import numpy as np
import scipy.sparse
import sklearn.cluster
import sklearn.decomposition
import sklearn.neighbors
from layouts import RANK, Case, every_layout
from mpi4py import MPI

import heatpp as ht

ROWS = np.concatenate([np.random.default_rng(seed).normal(seed * 9, 1, size=(12, 3)) for seed in range(3)])


class Models(Case):
    def test_kmeans(self):
        expected = sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(ROWS)
        for x in every_layout(ROWS):
            found = ht.KMeans(n_clusters=3, seed=1).fit(x)
            self.same(np.sort(found.centers.numpy(), axis=0), np.sort(expected.cluster_centers_, axis=0))
            self.assertAlmostEqual(found.inertia, expected.inertia_, places=6)
            self.same(found.predict(x), found.labels.numpy())

    def test_parameters(self):
        model = ht.KMeans(n_clusters=3)
        self.assertEqual({key: model.get_params()[key] for key in ("n_clusters", "init", "max_iterations")},
                         {"n_clusters": 3, "init": "plus_plus", "max_iterations": 300})
        self.assertEqual(model.set_params(n_clusters=5, init="random").get_params()["init"], "random")
        self.assertEqual(model.get_params()["n_clusters"], 5)
        with self.assertRaisesRegex(ValueError, "got clusters; expected"):
            model.set_params(clusters=3)
        with self.assertRaises(TypeError):
            ht.KMeans(init="anywhere")

    def test_models_without_options(self):
        for x in every_layout(ROWS):
            self.same(ht.MaxAbsScaler().fit(x).transform(x), ROWS / np.abs(ROWS).max(axis=0))

    def test_progress_is_told(self):
        seen = []
        ht.KMeans(n_clusters=3, seed=2, progress=lambda state: seen.append(state.done) or True).fit(ht.array(ROWS, split=0))
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        self.assertGreater(len(seen), 0)

    def test_progress_that_says_nothing_goes_on(self):
        seen = []
        model = ht.KMeans(n_clusters=3, seed=2, progress=lambda state: seen.append(state.done)).fit(ht.array(ROWS, split=0))
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        self.assertEqual(len(seen), model.iterations)
        self.assertIs(ht.KMeans(progress=print).get_params()["progress"], print)
        ended = ht.KMeans(n_clusters=3, seed=2, tol=0, progress=lambda state: np.bool_(state.done < 2)).fit(ht.array(ROWS, split=0))
        self.assertLessEqual(ended.iterations, 2)
        with self.assertRaisesRegex(ValueError, "truth value"):
            ht.KMeans(n_clusters=3, seed=2, progress=lambda state: np.ones(2)).fit(ht.array(ROWS, split=0))

    def test_pca(self):
        expected = sklearn.decomposition.PCA(2).fit(ROWS)
        for x in every_layout(ROWS):
            self.same(ht.PCA(n_components=2).fit(x).explained_variance, expected.explained_variance_)

    def test_methods_that_may_take_nothing(self):
        expected = sklearn.neighbors.NearestNeighbors(n_neighbors=4).fit(ROWS)
        states = np.array([[0.9, 0.2], [-0.2, 0.9]])
        course = np.stack([np.linalg.matrix_power(states, i) @ [1.0, 2.0] for i in range(9)], axis=1)
        for x in every_layout(ROWS):
            model = ht.NearestNeighbors(n_neighbors=4).fit(x)
            self.same(model.kneighbors(ht.array(ROWS[:5])).indices, expected.kneighbors(ROWS[:5])[1])
            self.same(model.kneighbors().distances, expected.kneighbors()[0])
        for x in every_layout(course):
            model = ht.DMD(rank=2).fit(x)
            self.same(model.reconstruct(), course)
            self.same(model.reconstruct([3.0]), course[:, 3:4])

    def test_sparse(self):
        dense = np.where(np.abs(ROWS) > 9, ROWS, 0)
        for x in every_layout(dense):
            a = ht.sparse.from_dense(x)
            self.assertEqual((a.nnz, a.shape), (np.count_nonzero(dense), dense.shape))
            self.same(ht.sparse.matmul(a, ht.ones(3, dtype="float64")), scipy.sparse.csr_matrix(dense) @ np.ones(3))
            self.same(ht.sparse.to_dense(ht.sparse.transpose(a)), dense.T)

    def test_files(self):
        made = tempfile.TemporaryDirectory() if RANK == 0 else None
        folder = pathlib.Path(MPI.COMM_WORLD.bcast(made.name if made else None))
        for x in every_layout(ROWS):
            for name in ("x.npy", "x.h5", "x.csv"):
                ht.io.save(x, folder / name)
                self.same(ht.io.load(folder / name, split=0), ROWS, rtol=1e-6)
            self.same(np.load(folder / "x.npy"), ROWS)
        for i, compression in enumerate((4, "zstd:1", "blosc")):
            ht.io.append_rows(ht.array(ROWS, split=0), folder / f"{i}.zarr", compression=compression)
            ht.io.append_rows(ht.array(ROWS, split=1), folder / f"{i}.zarr")
            self.same(ht.io.load(folder / f"{i}.zarr", split=0), np.concatenate([ROWS, ROWS]))
        MPI.COMM_WORLD.barrier()
        if made:
            made.cleanup()
