"""Lines as users of NumPy, PyTorch and scikit-learn write them."""

import copy
import pickle

import numpy as np
import sklearn.base
import torch
from layouts import Case, every_layout

import heatpp as ht

VALUES = np.arange(24.0).reshape(6, 4)


class Habits(Case):
    def test_lists_and_arrays_of_other_libraries_are_operands(self):
        row, tensor = [1, 2, 3, 4], torch.arange(4.0, dtype=torch.float64)
        for x in every_layout(VALUES):
            for found, expected in ((x + row, VALUES + row), (row + x, VALUES + row), (tuple(row) * x, VALUES * row), (x == row, VALUES == row),
                                    (x - tensor, VALUES - tensor.numpy()), (tensor - x, tensor.numpy() - VALUES), (x @ np.ones((4, 2)), VALUES @ np.ones((4, 2))),
                                    ([1, 2, 3, 4, 5, 6] @ x, np.arange(1, 7) @ VALUES), (divmod(50, x + 1), divmod(50, VALUES + 1)),
                                    (ht.isin(x, [1, 2]), np.isin(VALUES, [1, 2])), (x.take([0, 2], axis=0), VALUES.take([0, 2], axis=0)),
                                    (np.average(x, axis=0, weights=range(6)), np.average(VALUES, axis=0, weights=range(6))),
                                    (np.concatenate([x, VALUES]), np.concatenate([VALUES, VALUES])), (ht.tile(x, 2), np.tile(VALUES, 2))):
                self.same(found, expected)
        self.assertEqual(ht.array(torch.ones(2, dtype=torch.bfloat16)).dtype, "bfloat16")
        for refused in (lambda: ht.ones(3) + ["a"], lambda: ht.ones(3) + "a", lambda: ht.ones(3) + None, lambda: ht.sum("a"), lambda: ht.sum([None])):
            with self.assertRaises(TypeError):
                refused()
        self.assertFalse(ht.ones(3) == "a")
        self.same(ht.array(np.arange(3, dtype=">f4"), split=0), [0, 1, 2])
        self.assertEqual(ht.zeros(np.array([2, 3])).shape, (2, 3))
        for text, refused in (("got a masked array", lambda: ht.array(np.ma.array([1, 2], mask=[0, 1]))), ("uint16.*expected bool, uint8", lambda: ht.array(np.ones(2, np.uint16)))):
            with self.assertRaisesRegex(TypeError, text):
                refused()

    def test_lists_of_arrays_are_stacked(self):
        for x in every_layout(VALUES):
            self.same(ht.array([x[0], x[3]]), VALUES[[0, 3]])
            self.same(ht.array([[x[0, 1], 2.0], [3.0, x.sum()]], split=0), [[1, 2], [3, VALUES.sum()]])
            self.same(x[[x[0, 1].astype(int), x[0, 3].astype(int)]], VALUES[[1, 3]])

    def test_positions_of_what_is_not_0(self):
        for x in every_layout(VALUES):
            written, mask = VALUES.copy(), VALUES > 9
            self.same(x[np.nonzero(x > 9)], VALUES[mask])
            self.same(x[x.nonzero()], VALUES[VALUES.nonzero()])
            x[ht.where(x > 9)] = -1
            written[mask] = -1
            self.same(x, written)

    def test_results_into_arrays_and_views(self):
        for x in every_layout(VALUES):
            expected = VALUES.copy()
            row = x[0]
            self.assertIs(np.add(row, 1, out=row), row)
            np.add(expected[0], 1, out=expected[0])
            ht.multiply(x[1:3], 2, out=x[3:5])
            np.multiply(expected[1:3], 2, out=expected[3:5])
            self.same(x, expected)
            total = ht.zeros(4, dtype="float64")
            self.assertIs(np.sum(x, axis=0, out=total), total)
            self.same(total, expected.sum(axis=0))
            np.cumsum(np.clip(x, 2, 5, out=x), axis=0, out=x)
            self.same(x, np.clip(expected, 2, 5).cumsum(axis=0))
            x.fill(3)
            self.same(x, np.full((6, 4), 3))
            block = np.zeros((6, 4))
            for refused in (lambda: ht.add(x, 1, out=block), lambda: np.clip(x, 0, 1, out=block), lambda: np.cumsum(x, axis=0, out=block)):
                with self.assertRaises(TypeError):
                    refused()
            self.same(block, np.zeros((6, 4)))
            with self.assertRaisesRegex(TypeError, r"\[array\] got .*expected bool"):
                x[0] = None

    def test_protocols_of_python(self):
        for x in every_layout(VALUES):
            self.assertTrue(5 in x and 5.5 not in x)
            self.assertEqual(f"{x.mean():.2f} {x[1, 1]:5.1f}", "11.50   5.0")
            self.assertEqual(round(x[1, 1] / 7, 2), 0.71)
            self.assertIs(ht.asarray(x, dtype="f8"), x)
            self.same(copy.copy(x), VALUES)
            taken = copy.deepcopy(x)
            taken += 1
            self.same(x, VALUES)
            for refused in (lambda: pickle.dumps(x), lambda: list(x[0, 0]), lambda: f"{x:.2f}"):
                with self.assertRaises((TypeError, ValueError)):
                    refused()
            self.assertEqual((np.zeros(2, dtype=x.dtype).dtype, np.dtype(x.dtype), x.itemsize), (np.float64, np.float64, 8))
            self.same(x.transpose(1, 0), VALUES.T)
            self.same(x.transpose(), VALUES.T)
            self.same(x.astype("f4", copy=False), VALUES)
        for name, kind in (("f4", ht.float32), ("<i8", ht.int64), (np.half, ht.float16), (torch.float64, ht.float64), (torch.bfloat16, ht.bfloat16), (complex, ht.complex128)):
            self.assertEqual(ht.zeros(1, dtype=name).dtype, kind)
        self.assertEqual(ht.zeros(1, device=torch.device("cpu")).device, "cpu")
        for unknown in ("f3", "U4", object, ht.ones(3), [1], None, 3):
            self.assertFalse(ht.float32 == unknown)

    def test_functions_as_numpy_spells_them(self):
        values = np.array([[3.0, 1, 2], [0, 5, 4], [3, 1, 2]])
        for x in every_layout(values):
            for call in (lambda x: np.unique(x, return_counts=True), lambda x: np.unique(x, return_index=True, return_inverse=True), lambda x: np.pad(x, 1),
                         lambda x: np.pad(x, (1, 2), constant_values=7), lambda x: np.pad(x, ((1, 2), (0, 1)), mode="edge"), lambda x: np.einsum("ij,kj->ik", x, x),
                         lambda x: np.histogram(x, bins=[0, 2, 5]), lambda x: np.histogram(x, bins=4, range=(0, 8)), lambda x: np.gradient(x),
                         lambda x: np.gradient(x, axis=0), lambda x: np.gradient(x, 2.0, axis=1), lambda x: np.gradient(x[0]), lambda x: np.clip(x, a_min=2, a_max=3), lambda x: np.interp(x, [0, 3], [1, 7]),
                         lambda x: np.linalg.lstsq(x[:, :2], x[:, 2], rcond=None)[0],
                         lambda x: x[np.ix_(x[:, 0] > 1, x[0] > 1)]):
                self.same(call(x), call(values))

    def test_options_as_numpy_names_them(self):
        values = np.array([[3.0, 1, 2], [0, 5, 4], [3, 1, 2]])
        for x in every_layout(values):
            for call in (lambda np, x: np.sort(x, kind="stable"), lambda np, x: np.argsort(x, kind="stable"), lambda np, x: np.percentile(x, 30, method="hazen"),
                         lambda np, x: np.clip(x, a_min=2, a_max=4), lambda np, x: np.pad(x, 1, constant_values=7), lambda np, x: np.eye(2, M=3), lambda np, x: np.median(x),
                         lambda np, x: np.linalg.eigvalsh(x + x.T, UPLO="U"), lambda np, x: np.linalg.svd(x, compute_uv=False), lambda np, x: np.linalg.pinv(x[:2], rcond=1e-9),
                         lambda np, x: np.average(x, axis=0, weights=x[:, 0], returned=True), lambda np, x: np.array(x[0], ndmin=3)):
                self.same(call(ht, x), call(np, values), rtol=1e-6)
            self.assertIs(ht.array(x, copy=False), x)
            self.same(ht.array([1, 2], ndmin=2, split=1), [[1, 2]])
        for twice in (lambda: ht.random.normal(size=2, shape=3), lambda: ht.percentile(x, 5, method="higher", interpolation="lower")):
            with self.assertRaisesRegex(TypeError, "which are the same"):
                twice()
        with self.assertRaisesRegex(ValueError, "got copy=False"):
            ht.array([1.0], copy=False)
        ht.random.seed(3)
        drawn = ht.random.normal(size=(2, 3), split=0)
        ht.random.seed(3)
        self.same(ht.random.normal(0, 1, (2, 3)), drawn.numpy())
        self.assertEqual((ht.random.rand(2, 3).shape, ht.random.randn(4, 1, split=1).split, ht.random.randint(5, size=4).shape), ((2, 3), 1, (4,)))

    def test_lists_are_as_precise_as_the_arrays_beside_them(self):
        numbers = [0.1, 0.2, 0.3]
        for kind in (np.float64, np.float32):
            values = np.array(numbers, kind)
            for x in every_layout(values):
                for found, expected in ((x == numbers, [True] * 3), (numbers == x, [True] * 3), (ht.isin(x, numbers), [True] * 3), (ht.isin(numbers, x), [True] * 3),
                                        (ht.digitize(x, numbers), [1, 2, 3]), (ht.searchsorted(x, numbers), [0, 1, 2]), (ht.searchsorted(numbers, x), [0, 1, 2]),
                                        (ht.histogram(x, bins=[0.1, 0.2, 0.3, 0.4])[0], [1, 1, 1]), (x - numbers, [0.0] * 3), (ht.where([True, False, True], x, numbers) - x, [0.0] * 3),
                                        (ht.concatenate([x, numbers])[3:] - x, [0.0] * 3), (ht.array([x[0], 0.1])[1] - x[0], 0.0)):
                    self.same(found, expected)
                for found in (x + numbers, numbers * x, ht.append(x, numbers), ht.append(x, 0.1), ht.where([True, False, True], x, numbers)):
                    self.assertEqual(found.dtype, kind)
                written = ht.zeros_like(x)
                written[:] = numbers
                self.same(written, values)
                written += numbers
                self.same(written, values + values)
                self.assertEqual(written.dtype, kind)
        self.assertEqual((ht.sqrt([1.0, 4.0]).dtype, ht.sqrt([1j]).dtype, (ht.arange(3) + numbers).dtype, ht.stack([[0.5], [1.5]]).dtype), ("float32", "complex64", "float64", "float32"))
        self.same(ht.arange(3) + numbers, np.arange(3) + numbers, rtol=1e-15)

    def test_numbers_are_arrays_without_axes(self):
        x = ht.array(VALUES, split=0)
        for found, expected in ((ht.sqrt(4), 2.0), (ht.isnan(float("nan")), True), (ht.abs(-3), 3), (ht.clip(5, 0, 1), 1), (ht.repeat(3, 2), [3, 3]), (ht.take(x, 2), VALUES.take(2)),
                                (x.take(1, axis=0), VALUES[1]), (ht.dot(2, x), 2 * VALUES), (ht.append(x, 1), np.append(VALUES, 1)), (ht.atleast_1d(5), [5]), (ht.round(2.567, 1), 2.6)):
            self.same(found, expected, rtol=1e-6)
        for refused in (lambda: ht.sqrt("4"), lambda: ht.sum(None), lambda: int(x), lambda: float(x), lambda: complex(x)):
            with self.assertRaises(TypeError):
                refused()

    def test_arguments_in_the_order_of_numpy(self):
        values = np.array([3.0, 1, 2, 5, 4, 0])
        for x in every_layout(values):
            for call in (lambda np, x: np.isin(x, [1, 2], False, True), lambda np, x: np.ediff1d(x, 9, [7, 8]), lambda np, x: np.trapezoid(x, x * x), lambda np, x: np.trapezoid(x, dx=2),
                         lambda np, x: np.unwrap(2 * x, 3.0), lambda np, x: np.delete(x, slice(1, 4)), lambda np, x: np.delete(x, -1), lambda np, x: np.linspace(2, 3, 4, False, True),
                         lambda np, x: np.pad(x, (1, 2), constant_values=(4, 5)), lambda np, x: np.concatenate([x, x], dtype="float32"), lambda np, x: np.stack([x, x], axis=1, dtype=complex),
                         lambda np, x: np.fromfunction(lambda i, j: 10 * i + j, (2, 3)), lambda np, x: np.full(3, fill_value=7), lambda np, x: np.select([x < 2], [x], default=9),
                         lambda np, x: np.tile(x, reps=2), lambda np, x: np.take(x, indices=[0, 2]), lambda np, x: np.polyfit(x, x * x, deg=2, w=x + 1), lambda np, x: np.vander(x, N=3),
                         lambda np, x: np.moveaxis(np.array([[1, 2]]), source=0, destination=1), lambda np, x: np.swapaxes(np.array([[1, 2]]), axis1=0, axis2=1), lambda np, x: np.unique(x, True),
                         lambda np, x: np.cross(x[:3], x[3:], axis=0), lambda np, x: np.tril_indices(n=2, m=3), lambda np, x: np.size(x, 0), lambda np, x: np.unravel_index([3], (2, 2)),
                         lambda np, x: np.resize(x, new_shape=(2, 2))):
                self.same(call(ht, x), call(np, values), rtol=1e-5, atol=1e-5)

    def test_errors_as_numpy_and_python_have_them(self):
        for name in ("none.h5", "none.npy", "none.csv", "none.zarr", "none-*.h5", "none.safetensors"):
            with self.assertRaisesRegex(FileNotFoundError, "got .*none"):
                ht.io.load(name)
        with self.assertRaises(FileNotFoundError):
            ht.io.load_hdf5("none.h5", "x")
        for x in (*every_layout(np.ones((3, 3))), ht.zeros((2, 3, 3), split=0)):
            for refused in (lambda: np.linalg.inv(x), lambda: ht.linalg.solve(x, x), lambda: ht.linalg.cholesky(-x)):
                with self.assertRaises(np.linalg.LinAlgError):
                    refused()
        self.assertIs(ht.linalg.LinAlgError, np.linalg.LinAlgError)
        for x in every_layout(VALUES):
            for key, text in (("a", "got 'a'; expected numbers, slices"), ((0, 4), r"got position 4 along axis 1 of an array of shape \(6, 4\)")):
                with self.assertRaisesRegex(IndexError, text):
                    x[key]

    def test_defaults_of_numpy(self):
        matrix = VALUES + 9 * np.eye(6, 4)
        for x in every_layout(matrix):
            for u, s, vh in (np.linalg.svd(x), ht.linalg.svd(x.T)):
                self.same(s, np.linalg.svd(matrix)[1])
                self.same(u.T @ u, np.eye(len(u)))
                self.same(vh @ vh.T, np.eye(len(vh)))
            self.assertEqual([part.shape for part in ht.linalg.svd(x, full_matrices=False)], [(6, 4), (4,), (4, 4)])
        for values in (np.array([np.nan, 2, np.nan, 1, 2, np.nan]), np.array([[3.0, 1], [1, np.nan]]), np.array([2.0, 1, 2]), np.full(3, np.nan),
                       np.array([1 + 1j, np.nan, 0, 1 + 1j, np.nan])):
            for x in every_layout(values):
                for equal_nan in (True, False):
                    self.same(ht.unique(x, equal_nan=equal_nan, return_index=True, return_inverse=True, return_counts=True),
                              np.unique(values, equal_nan=equal_nan, return_index=True, return_inverse=True, return_counts=True))

    def test_what_numpy_and_torch_have_not(self):
        x = ht.ones(3, dtype=ht.bfloat16, split=0)
        self.assertEqual(x.tolist(), [1.0, 1.0, 1.0])
        for refused in (lambda: x.numpy(), lambda: x.larray):
            with self.assertRaisesRegex(TypeError, "got bfloat16, which NumPy does not have"):
                refused()
        with self.assertRaises(TypeError):  # negative strides
            ht.from_local(VALUES[::-1], split=0)
        for y in every_layout(VALUES):
            self.same(y.compress([True, False, True, False], axis=1), VALUES.compress([True, False, True, False], axis=1))
            self.assertEqual((y.item(7), y.item(2, 3), y[0].item(1)), (VALUES.item(7), VALUES.item(2, 3), 1.0))
            self.same(abs(np.linalg.qr(y, mode="r")), abs(np.linalg.qr(VALUES, mode="r")))
            self.same(y[0].compress([False, True, True, False]), VALUES[0].compress([False, True, True, False]))

    def test_estimators_as_of_scikit_learn(self):
        model = ht.KMeans(n_clusters=2, seed=3).fit(VALUES)
        self.assertRegex(repr(model), r"^KMeans\(n_clusters=2, init='plus_plus', .*seed=3")
        self.same(model.predict(VALUES), copy.deepcopy(model).predict(VALUES.tolist()).numpy())
        self.assertEqual(sklearn.base.clone(model).get_params(), model.get_params())
        with self.assertRaises(ht.NotFittedError):
            sklearn.base.clone(model).predict(VALUES)
        self.assertEqual(ht.Lasso().set_params(alpha=2).get_params()["alpha"], 2)
        self.assertNotIn("l1_ratio", ht.Lasso().get_params())
        self.same(ht.LinearRegression().fit(VALUES[:, :1], VALUES[:, 1]).predict(VALUES[:, :1]), VALUES[:, 1])
