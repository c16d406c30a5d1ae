"""HeAT's rules that differ from heatpp's, with arrays that are split."""

import copy
import shutil
import tempfile
import unittest

import heatpp
import heatpp.heat as ht
import numpy as np
import torch


class Heat(unittest.TestCase):
    def test_types(self):
        x = ht.arange(10, dtype=ht.int32, split=0)
        self.assertIs((x.astype(ht.int64) + 1.5).dtype, ht.float32)
        self.assertIs((x / 2).dtype, ht.float32)
        self.assertIs(ht.exp(x).dtype, ht.float32)
        self.assertIs(ht.promote_types(ht.int32, ht.float32), ht.float32)
        self.assertIs(ht.promote_types(ht.int64, ht.float32), ht.float64)
        self.assertIs(ht.array([1.0]).dtype, ht.float32)
        self.assertIs(ht.array(np.ones(1)).dtype, ht.float64)
        for pair, casting, castable in (((ht.int32, ht.float32), "safe", False), ((ht.int32, ht.float32), "intuitive", True), ((ht.int16, ht.float16), "safe", False),
                                        ((ht.int8, ht.float16), "safe", True), ((ht.int64, ht.float64), "safe", True), ((ht.int8, ht.float64), "same_kind", False),
                                        ((ht.float64, ht.float16), "same_kind", True), ((ht.int32, ht.int64), "no", False)):
            self.assertIs(ht.can_cast(*pair, casting), castable)

    def test_types_of_results(self):
        for split in (None, 0):
            i, u, f = ht.array([1, 2, 3, 4], dtype=ht.int32, split=split), ht.array([1, 2, 3, 4], dtype=ht.uint8, split=split), ht.array([1.0, 2, 3, 5], split=split)
            long = i.astype(ht.int64)
            for found, kind in ((ht.floor(i), ht.float32), (ht.ceil(long), ht.float64), (ht.trunc(u), ht.float32), (ht.sign(i), ht.float32), (ht.round(i), ht.float32),
                                (ht.cumsum(u, 0), ht.uint8), (ht.cumprod(i, 0), ht.int32), (ht.cumsum(i, 0, dtype=ht.int64), ht.int64), (ht.fft.fft(long), ht.complex64),
                                (ht.where(long > 2, long, 0.5), ht.float64), (ht.where(u > 2, u, 2), ht.int32), (ht.bincount(i, weights=f), ht.float32),
                                (ht.matmul(ht.ones((2, 2), dtype=ht.int64, split=split), ht.ones((2, 2))), ht.float64)):
                self.assertIs(found.dtype, kind)
            for found in (ht.std(f), f.std(), ht.skew(f), ht.kurtosis(f)):
                self.assertIsInstance(found, float)
            rows = ht.array([[1.0, 2], [3, 5], [4, 1]], split=split)
            self.assertIs(ht.preprocessing.StandardScaler().fit(rows).mean_.dtype, ht.float32)
            between = ht.preprocessing.MinMaxScaler(feature_range=(-1.0, 2.0)).fit(rows)
            np.testing.assert_allclose(between.transform(rows).numpy(), rows.numpy() * between.scale_.numpy() + between.min_.numpy(), atol=1e-6)
            np.testing.assert_allclose(between.scale_.numpy() * between.data_range_.numpy(), [3, 3], rtol=1e-6)
            for scaler, kept in ((ht.preprocessing.StandardScaler(), "mean_"), (ht.preprocessing.RobustScaler(), "center_")):
                moved = (rows.numpy() - getattr(scaler.fit(rows), kept).numpy()) * scaler.scale_.numpy()
                np.testing.assert_allclose(scaler.transform(rows).numpy(), moved, atol=1e-6)
            self.assertIs(ht.naive_bayes.GaussianNB().fit(rows, ht.array([0, 1, 0], split=split)).theta_.dtype, ht.float32)
            self.assertAlmostEqual(ht.cluster.KMeans(1, random_state=0).fit(rows).inertia_.item(), ((rows.numpy() - rows.numpy().mean(axis=0)) ** 2).sum(), places=4)

    def test_names_of_files_and_of_tests_of_arguments(self):
        size = ht.MPI_WORLD.size
        x = ht.DNDarray(torch.arange(3.0), (3 * size,), ht.float64, 0, ht.cpu, ht.MPI_WORLD, True)
        np.testing.assert_array_equal(x.numpy(), np.tile([0, 1, 2], size))
        with self.assertRaisesRegex(ValueError, "expected \\(1,\\)"):
            ht.DNDarray(torch.ones(2), (1,), split=0)
        self.assertIs(ht.linalg.basics.matmul, ht.linalg.matmul)
        self.assertIs(ht.types.int_, ht.int32)
        y = ht.sanitize_distribution(ht.arange(3 * size), target=x)
        self.assertEqual((y.split, y.lshape), (0 if size > 1 else None, x.lshape))
        table = torch.tensor([[0]] * (size - 1) + [[3 * size]])
        self.assertEqual(ht.sanitize_distribution(x, target=x, diff_map=table).lshape[0], 3 if size == 1 else 3 * size * (x.comm.rank == size - 1))
        self.assertEqual((ht.sanitize_infinity(ht.ones(2, dtype=ht.int8)), ht.sanitize_memory_layout(torch.ones(2, 3), "F").stride()), (127, (1, 2)))
        ht.sanitize_lshape(x, torch.ones(7))
        for wrong in (lambda: ht.sanitize_lshape(x, torch.ones(2, 2)), lambda: ht.sanitize_distribution(ht.ones(2), target=ht.ones(3 * size, split=0)) if size > 1 else ht.sanitize_lshape(x, torch.ones(())),
                      lambda: ht.DNDarray(torch.ones(2), (1,), split=0)):
            with self.assertRaises(ValueError):
                wrong()
        rows = ht.array(np.concatenate([np.random.default_rng(i).normal(4 * i, 1, (10, 2)) for i in range(3)]).astype(np.float32), split=0)
        model = ht.cluster.Spectral(n_clusters=3, lanczos_n_iter=20).fit(rows)
        self.assertTrue((model.predict(rows) == model.labels_).all())
        self.assertEqual(model.labels_.shape, (30, 1))
        self.assertEqual(ht.preprocessing.Normalizer().transform(rows).shape, rows.shape)
        self.assertIsInstance(ht.linalg.hsvd_rank(rows, 1)[1].item(), float)
        self.assertEqual(ht.naive_bayes.GaussianNB(priors=ht.array([0.9, 0.1])).fit(rows, ht.array([0, 1] * 15, split=0)).class_prior_.shape, (2,))
        self.assertIs(ht.spatial.cdist(ht.arange(6).reshape((3, 2))).dtype, ht.float32)
        lasso = ht.regression.Lasso(lam=0.5)
        self.assertEqual((lasso.soft_threshold(2.0), lasso.soft_threshold(-2.0), lasso.soft_threshold(-0.2)), (1.5, -1.5, 0.0))
        self.assertAlmostEqual(lasso.rmse(ht.array([1.0, 2.0], split=0), ht.array([1.0, 4.0], split=0)), 2 ** 0.5, places=6)

    def test_larray_shows_what_is_written(self):
        x = ht.zeros((7, 2), split=0)
        block = x.larray
        self.assertIsInstance(block, torch.Tensor)
        x += 1
        x[:, 1] = 5
        self.assertIs(x.larray, block)
        np.testing.assert_array_equal(block.numpy(), np.tile([1, 5], (x.lshape[0], 1)))
        block[:, 0] = 3
        np.testing.assert_array_equal(x.numpy(), np.tile([3, 5], (7, 1)))

    def test_what_selections_write_is_shown(self):
        for split in (None, 0, 1):
            x = ht.zeros((7, 2), split=split)
            block, row, rows = x.larray, x[0], x[1:3]
            part = rows.larray
            row += 1
            rows[0] = 5
            ht.add(ht.ones((2, 2), split=split), 1, out=x[3:5])
            ht.sub(rows, 1, out=rows, where=rows > 4)
            expected = np.repeat([1, 4, 0, 2, 2, 0, 0], 2).reshape(7, 2)
            np.testing.assert_array_equal(x.numpy(), expected)
            np.testing.assert_array_equal(block.numpy(), x.larray.numpy())
            self.assertIs(x.larray, block)
            self.assertIs(rows.larray, part)
            np.testing.assert_array_equal(ht.array(part, is_split=split).numpy(), expected[1:3])

    def test_selections_stay_where_nothing_is_done(self):
        for split in (None, 0):
            x = ht.zeros((6, 4), split=split)
            for keep in (lambda rows: rows.balance_(), lambda rows: rows.resplit_(rows.split), lambda rows: rows.astype(ht.float32, copy=False)):
                before, part = x.sum().item(), x[1:4]
                kept = keep(part if part.is_balanced() else x)
                kept += 1
                self.assertEqual(x.sum().item(), before + kept.size)

    def test_tensors_stay_those_of_the_caller(self):
        x = ht.arange(6, split=0, dtype=ht.float32)
        old = x.larray
        x.larray = 2 * old
        np.testing.assert_array_equal(x.numpy(), 2 * np.arange(6))
        local, shape = x.larray, x.larray.shape
        x.resplit_(None)
        self.assertEqual((local.shape, x.larray.shape), (shape, (6,)))
        np.testing.assert_array_equal(2 * old.numpy(), local.numpy())
        np.testing.assert_array_equal(x.larray.numpy(), 2 * np.arange(6))

    def test_communicators(self):
        world = ht.MPI_WORLD
        for comm in (ht.MPI_SELF, world.Split(0, -world.rank), world.Split(world.rank % 2), world):
            x = ht.arange(4, split=0, comm=comm)
            self.assertTrue(all(each.comm is comm for each in (x, x + 1, x[1:], ht.zeros_like(x), ht.array(x.larray, is_split=0, comm=x.comm))))
            self.assertEqual((tuple(x.lshape_map.shape), x.lshape, int(x.sum())), ((comm.size, 1), comm.chunk((4,), 0)[1], 6))
            self.assertIn(f"MPI-rank: {comm.rank}", repr(x))
            self.assertEqual("DNDarray([0, 1, 2, 3]" in str(x), comm.rank == 0)
            np.testing.assert_array_equal((x + ht.zeros_like(x)).numpy(), np.arange(4))
        part = heatpp.world().split(world.rank % 2)
        x = ht.DNDarray(heatpp.arange(4, split=0, comm=part))  # HeAT's communicator for it is made on demand
        self.assertEqual((x.comm.rank, x.comm.size, x.comm), (part.rank, part.size, (x + 1).comm))

    def test_arrays_are_given_to_heatpp(self):
        rows = np.arange(24.0).reshape(12, 2) ** 2
        x = ht.array(rows, split=0)
        for found, expected in ((heatpp.sum(x), rows.sum()), (heatpp.array(x), rows), (heatpp.array([x[0], x[1]]), rows[:2]), (heatpp.array(rows, split=0) + x, 2 * rows),
                                (heatpp.concatenate([x, x]), np.concatenate([rows, rows])), (heatpp.DNDarray(x), rows), (heatpp.zeros((12, 2), split=1) + x, rows)):
            self.assertIsInstance(found, heatpp.DNDarray)
            np.testing.assert_array_equal(found.numpy(), expected)
        y = heatpp.zeros((12, 2), split=0, dtype="float64")
        y[...] = x
        np.testing.assert_array_equal(y.numpy(), rows)
        options = {"n_clusters": 3, "seed": 1}
        self.assertEqual(heatpp.KMeans(**options).fit(x).inertia, heatpp.KMeans(**options).fit(x._x).inertia)

        class Parted:  # as HeAT's and other libraries' arrays
            __partitioned__ = larray = property()

            def __array__(self, dtype=None, copy=None):
                return np.zeros(2)

        for refused in (lambda: heatpp.sum(Parted()), lambda: heatpp.ones(2) + Parted(), lambda: heatpp.KMeans().fit(Parted())):
            with self.assertRaises(TypeError):
                refused()
        with self.assertRaisesRegex(TypeError, r"\[array\] got Parted, of which each rank has a part; expected"):
            heatpp.array(Parted())

    def test_results(self):
        x = ht.array([[3, 1, 2], [0, 5, 0]], split=0)
        self.assertIs(ht.zeros(3) == ht.zeros(4), False)
        self.assertIs(ht.zeros(3) != ht.zeros(4), True)
        out = ht.empty((2,), dtype=ht.int64, split=0)
        self.assertIs(ht.sum(x, axis=1, out=out), out)
        np.testing.assert_array_equal(out.numpy(), [6, 5])
        with self.assertRaises(ValueError):
            ht.sum(x, axis=1, out=ht.empty((3,)))
        with self.assertRaises(TypeError):
            ht.sum([1, 2])

    def test_blocks_and_estimators(self):
        rank, size = ht.MPI_WORLD.rank, ht.MPI_WORLD.size
        x = ht.array(torch.full((2, 2), float(rank * 10)), is_split=0)
        self.assertEqual((x.shape, x.split, x.lshape_map.tolist()), ((2 * size, 2), 0, [[2, 2]] * size))
        centers = ht.cluster.KMeans(n_clusters=size, init=x[::2]).fit(x).cluster_centers_
        np.testing.assert_allclose(np.sort(centers.numpy()[:, 0]), 10.0 * np.arange(size))
        self.assertEqual(ht.cluster.KMeans(max_iter=7).get_params()["max_iter"], 7)
        self.assertIsInstance(x._x, heatpp.DNDarray)

    def test_protocols_of_python(self):
        x = ht.arange(6, split=0)
        for taken in (copy.copy(x), copy.deepcopy(x)):
            taken += 1
        self.assertEqual(([int(each) for each in x], 5 in x, 7 in x, f"{x.sum():.1f}"), ([0, 1, 2, 3, 4, 5], True, False, "15.0"))
        for error, refused in ((TypeError, lambda: list(x[0])), (TypeError, lambda: ht.sum([1, 2])), (TypeError, lambda: ht.add_(x, [1])), (TypeError, lambda: ht.random.normal([1, 2], 1)),
                               (AttributeError, lambda: ht.nn)):
            with self.assertRaises(error):
                refused()

    def test_neighbors_and_partitions(self):
        rank, size = ht.MPI_WORLD.rank, ht.MPI_WORLD.size
        x = ht.arange(3 * size, split=0)
        x.get_halo(2)
        whole = np.arange(3 * size)
        np.testing.assert_array_equal(x.array_with_halos.numpy(), whole[max(0, 3 * rank - 2):3 * rank + 5])
        self.assertEqual((x.halo_prev is None, x.halo_next is None), (rank == 0, rank == size - 1))
        shared = ht.from_partitioned(x)
        x[0] = 7
        self.assertEqual((shared.shape, shared[0].item()), ((3 * size,), 7))
        with self.assertRaises(RuntimeError):
            ht.from_partition_dict({"shape": (3,)})

    def test_sparse(self):
        dense = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3], [0, 4, 0]], dtype=np.float32)
        for make, axis in ((ht.sparse.sparse_csr_matrix, 0), (ht.sparse.sparse_csc_matrix, 1)):
            for split in (None, axis):
                a = make(dense, split=split)
                self.assertEqual((a.nnz, a.shape, a.split, a.dtype), (4, (4, 3), split, ht.float32))
                np.testing.assert_array_equal((a + a).todense().numpy(), 2 * dense)
                np.testing.assert_array_equal((a * 3).todense().numpy(), 3 * dense)
                np.testing.assert_array_equal((a * make(dense)).todense().numpy(), dense * dense)
                self.assertEqual(len(a.indptr), dense.shape[axis] + 1)
            with self.assertRaises(ValueError):
                make(dense, split=1 - axis)

    def test_vmap(self):
        rows = np.arange(12, dtype=np.float32).reshape(6, 2)
        squares, sums = ht.vmap(lambda row, plus: (row * row, row.sum() + plus))(ht.array(rows, split=0), plus=1)
        self.assertEqual((squares.split, sums.split), (0, 0))
        np.testing.assert_array_equal(squares.numpy(), rows * rows)
        np.testing.assert_array_equal(sums.numpy(), rows.sum(axis=1) + 1)
        with self.assertRaises((ValueError, RuntimeError)):
            ht.vmap(lambda row: row @ row)(ht.array(rows.reshape(6, 1, 2), split=0))

    def test_random(self):
        ht.random.seed(5)
        a = ht.random.rand(2, 3)
        ht.random.set_state(("Batchparallel", None, 5 + ht.MPI_WORLD.rank))
        self.assertTrue(ht.equal(a, ht.random.random((2, 3))))
        self.assertEqual(ht.random.get_state()[1:3], (None, 5 + ht.MPI_WORLD.rank))
        self.assertIsInstance(ht.random.randn(), float)
        self.assertEqual(ht.random.standard_normal().shape, (1,))
        if ht.MPI_WORLD.size > 1:
            with self.assertRaises(ValueError):
                ht.random.set_state(("Batchparallel", None, 5))
        with self.assertRaises(ValueError):
            ht.random.rand(2, dtype=ht.int32)

    def test_parameters_are_honored_or_refused(self):
        x = ht.arange(6, dtype=ht.float32).reshape((2, 3))
        self.assertEqual(ht.zeros((2, 3), order="F").larray.stride(), (1, 2))
        self.assertEqual(ht.array(np.ones((2, 3)), order="F").larray.stride(), (1, 2))
        self.assertIs(ht.bucketize(x, ht.array([1.0, 2.0]), out_int32=True).dtype, ht.int32)
        for refused in (lambda: ht.zeros(3, order="K"), lambda: ht.histogram(x, density=True), lambda: ht.linalg.condest(x, p=1),
                        lambda: ht.save_csv(x, "/nowhere/x.csv", truncate=False), lambda: ht.classification.KNeighborsClassifier(effective_metric_=len).fit(x, ht.arange(2))):
            with self.assertRaises(NotImplementedError):
                refused()
        for wrong in (lambda: ht.full(3, 1.0, device="abacus"), lambda: ht.decomposition.DMD(svd_solver="quick"), lambda: ht.decomposition.DMD(svd_rank=2, svd_tol=0.1),
                      lambda: ht.preprocessing.MinMaxScaler(feature_range=(1.0, 0.0)), lambda: ht.decomposition.PCA(n_oversamples=-1)):
            with self.assertRaises(ValueError):
                wrong()

    def test_estimators_of_a_programs_own(self):
        class Mean(ht.BaseEstimator, ht.RegressionMixin):
            def __init__(self, shift=1, scale=2.0):
                self.shift, self.scale = shift, scale

            def fit(self, x, y):
                self.mean_ = y.mean()
                return self

            def predict(self, x):
                return ht.zeros(x.shape[0]) + self.mean_ * self.scale + self.shift

        model = Mean(3).set_params(scale=0.5)
        self.assertEqual(model.get_params(), {"shift": 3, "scale": 0.5})
        self.assertEqual(repr(model), "Mean({'shift': 3, 'scale': 0.5})")
        self.assertEqual(model.fit_predict(ht.ones((4, 2), split=0), ht.ones(4, split=0)).tolist(), [3.5] * 4)

    def test_names(self):
        import heatpp.heat.constants

        self.assertEqual((heatpp.heat.constants.PI, ht.constants.NINF, ht.pi, ht.Euler), (np.pi, -np.inf, np.pi, np.e))
        x = ht.array(np.outer(np.arange(1.0, 9), [1, 2, 3]), split=0)
        for found in (ht.linalg.hsvd_rtol(x, rtol=1e-6, compute_sv=True, silent=False), ht.linalg.hsvd_rank(x, maxrank=1, compute_sv=True), ht.linalg.hsvd(x, maxrank=1, compute_sv=True)):
            np.testing.assert_allclose((found[0] * found[1] @ found[2]).numpy(), x.numpy(), atol=1e-6)
            self.assertLess(found[3], 1e-6)

    def test_linear_systems(self):
        upper = np.triu(np.arange(16.0).reshape(4, 4) + 3)
        for split in (None, 0, 1):
            x, below = ht.array(upper + np.tril(np.ones((4, 4)), -1), split=split), ht.array(np.eye(4), split=None if split == 1 else split)
            np.testing.assert_allclose(ht.linalg.solve_triangular(x, below).numpy(), np.linalg.inv(upper), atol=1e-5)
            whole = ht.empty(2, dtype=ht.int32, split=None if split is None else 0)
            ht.linalg.solve(ht.array([[1, 2], [3, 5]], split=split), ht.array([1, 2]), out=whole)
            self.assertEqual(whole.numpy().tolist(), [-1, 1])
            stack, sides = ht.array(np.stack([np.eye(2), 2 * np.eye(2)]), split=None if split is None else 0), ht.ones((2, 2))
            out = ht.empty((2, 2))
            ht.linalg.solve(stack, sides, out=out)
            np.testing.assert_allclose(out.numpy(), [[1, 1], [0.5, 0.5]])
            U, sigma, Vh, error = ht.linalg.hsvd_rank(ht.zeros((6, 4), split=split), 3, compute_sv=True)
            self.assertEqual((U.shape, Vh.shape, ht.norm(U).item(), sigma.numpy().tolist(), error), ((6, 1), (1, 4), 0, [0], 0))

    def test_files_that_may_be_extended(self):
        comm = ht.MPI_WORLD.handle
        folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
        x = ht.arange(6, dtype=ht.float32, split=0)
        netcdf = [(f"{folder}/x.nc", ht.save_netcdf, ht.load_netcdf)] if ht.supports_netcdf() else []
        for path, save, load in ((f"{folder}/x.h5", ht.save_hdf5, ht.load_hdf5), *netcdf):
            with self.assertRaises(OSError):
                save(x, path, "first", mode="r+")
            save(x, path, "first", mode="a")
            save(x + 1, path, "second", mode="a")
            save(x + 2, path, "third", mode="r+")
            for i, name in enumerate(("first", "second", "third")):
                np.testing.assert_array_equal(load(path, name, split=0).numpy(), np.arange(6) + i)
            save(x, path, "only", mode="w")
            with self.assertRaises((OSError, KeyError, ValueError)):
                load(path, "first")
        comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(folder)

    @unittest.skipUnless(ht.supports_netcdf(), "heatpp is built without netCDF, which Debian does not have for MPICH")
    def test_parts_of_netcdf_variables(self):
        comm = ht.MPI_WORLD.handle
        folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
        path, rows = f"{folder}/x.nc", np.arange(21.0).reshape(7, 3)
        for split in (None, 0, 1):
            x = ht.array(rows, split=split)
            ht.save_netcdf(x, path, "grows", is_unlimited=True)
            ht.save_netcdf(x + 1, path, "grows", mode="r+", file_slices=slice(7, None))
            ht.save_netcdf(x, path, "stays", mode="a")
            ht.save_netcdf(-x[:2], path, "stays", mode="r+", file_slices=slice(5, 2, -2))
            ht.save_netcdf(x[0], path, "stays", mode="r+", file_slices=[-1])
            expected = rows.copy()
            expected[5:2:-2], expected[-1] = -rows[:2], rows[0]
            np.testing.assert_array_equal(ht.load_netcdf(path, "grows", split=0).numpy(), np.concatenate([rows, rows + 1]))
            np.testing.assert_array_equal(ht.load_netcdf(path, "stays", split=1).numpy(), expected)
            for wrong in (slice(7, None), slice(0, 2)):
                with self.assertRaises(ValueError):
                    ht.save_netcdf(x, path, "stays", mode="r+", file_slices=wrong)
        comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(folder)

    def test_all_ranks_throw(self):
        rank, size = ht.MPI_WORLD.rank, ht.MPI_WORLD.size
        odd = rank == size - 1
        for wrong in (lambda: ht.array([[1, 2], [3]] if odd else [[1, 2], [3, 4]], is_split=0), lambda: ht.sparse.sparse_csr_matrix(object() if odd else np.eye(2), is_split=0),
                      lambda: ht.vmap(lambda row: row + (1 if not odd else "a"))(ht.ones((size, 2), split=0))):
            with self.assertRaises((ValueError, TypeError)):
                wrong()
        self.assertEqual(ht.MPI_WORLD.handle.allreduce(1), size)

    def test_lasso(self):
        from heatpp.heat.regression.lasso import Lasso

        draw = np.random.default_rng(3)
        rows = np.concatenate([np.ones((60, 1)), draw.normal(size=(60, 4))], axis=1)
        rows /= np.sqrt((rows ** 2).mean(axis=0))
        y = rows @ [3, 1, 0, -2, 0.01] + 0.01 * draw.normal(size=60)
        theta = np.zeros(5)
        for _ in range(500):  # HeAT's coordinate descent
            for j in range(5):
                rho = (rows[:, j] * (y - rows @ theta + theta[j] * rows[:, j])).mean()
                theta[j] = rho if j == 0 else np.sign(rho) * max(abs(rho) - 0.1, 0)
        for split in (None, 0, 1):
            model = Lasso(lam=0.1, max_iter=1000, tol=1e-12)
            self.assertIsNone(model.coef_)
            model.fit(ht.array(rows, split=split), ht.array(y, split=None if split == 1 else split))
            np.testing.assert_allclose(model.theta.numpy()[:, 0], theta, atol=1e-6)
            np.testing.assert_allclose(model.predict(ht.array(rows, split=split)).numpy()[:, 0], rows @ theta, atol=1e-5)
            self.assertEqual((model.coef_.shape, model.intercept_.shape), ((4, 1), (1,)))

    def test_dynamics(self):
        size = ht.MPI_WORLD.size
        step = np.array([[0.9, -0.2], [0.2, 0.9]])
        states = np.stack([np.linalg.matrix_power(step, i) @ [1, 2] for i in range(8)], axis=1)
        basis = np.linalg.qr(np.random.default_rng(0).normal(size=(4 * size, 2)))[0]
        for split in (None, 0, 1):
            x = ht.array(basis @ states, split=split)
            for options in ({"svd_rank": 2}, {"svd_tol": 1e-8, "svd_solver": "hierarchical"}):
                model = ht.decomposition.DMD(**options).fit(x)
                self.assertEqual(model.n_modes_, 2)
                np.testing.assert_allclose(model.predict_next(x, 3)[:, :5].numpy(), (basis @ states)[:, 3:], atol=1e-6)
                np.testing.assert_allclose(model.predict(x[:, :2], [0, 2]).numpy()[1], (basis @ states)[:, [1, 3]], atol=1e-6)
                np.testing.assert_allclose(model.predict_next(x, -1)[:, 1:].numpy(), (basis @ states)[:, :-1], atol=1e-6)


if __name__ == "__main__":
    unittest.main()
