"""Functions against NumPy's on every layout."""

import numpy as np
from layouts import Case, every_layout

import heatpp as ht

VALUES = np.random.default_rng(1).normal(size=(7, 4))
WHOLE = np.random.default_rng(2).integers(-9, 9, size=(5, 6))


class Functions(Case):
    def along_axes(self, names, values, ours=None, theirs=None):
        for name in names.split():
            for x in every_layout(values):
                for axis in (None, 0, 1, -1):
                    with self.subTest(name=name, split=x.split, axis=axis):
                        self.same(getattr(ht, name)(x, axis=axis), getattr(np, name)(values, axis=axis))

    def test_reductions(self):
        self.along_axes("sum prod max min mean std var median argmax argmin nansum ptp cumsum cumprod any all count_nonzero", VALUES)
        self.along_axes("sum prod max min any all argmax cumsum", WHOLE)

    def test_reductions_of_several_axes(self):
        values = VALUES.reshape(7, 2, 2)
        for x in every_layout(values):
            self.same(ht.sum(x, axis=(0, 2)), values.sum(axis=(0, 2)))
            self.same(ht.mean(x, axis=(1,), keepdims=True), values.mean(axis=1, keepdims=True))
            self.same(x.max(axis=()), values)

    def test_descriptions(self):
        for x in every_layout(VALUES):
            for axis in (None, 0, 1):
                found = ht.describe(x, axis=axis, ddof=1)
                self.assertEqual(found.count, VALUES.size if axis is None else VALUES.shape[axis])
                self.same(found.mean, VALUES.mean(axis))
                self.same(found.std, VALUES.std(axis, ddof=1))
                self.same(found.min, VALUES.min(axis))
                self.same(found.max, VALUES.max(axis))

    def test_elementwise(self):
        for x in every_layout(VALUES):
            for name in "exp sin cos tanh abs sqrt floor ceil trunc sign square isnan isfinite negative arctan cbrt".split():
                with np.errstate(invalid="ignore"):
                    self.same(getattr(ht, name)(x), getattr(np, name)(VALUES))
            for name in "add subtract multiply divide maximum minimum arctan2 hypot less greater_equal not_equal logical_and".split():
                for y in every_layout(VALUES[:, ::-1].copy()):
                    self.same(getattr(ht, name)(x, y), getattr(np, name)(VALUES, VALUES[:, ::-1]))

    def test_shapes(self):
        for x in every_layout(VALUES):
            self.same(ht.reshape(x, (4, 7)), VALUES.reshape(4, 7))
            self.same(ht.reshape(x, -1), VALUES.reshape(-1))
            self.same(x.T, VALUES.T)
            self.same(ht.flip(x, axis=0), VALUES[::-1])
            self.same(ht.roll(x, 2, axis=0), np.roll(VALUES, 2, axis=0))
            self.same(ht.concatenate([x, x], axis=1), np.concatenate([VALUES, VALUES], axis=1))
            self.same(ht.stack([x, x]), np.stack([VALUES, VALUES]))
            self.same(ht.expand_dims(x, 1), VALUES[:, None])
            self.same(ht.tile(x, (2, 1)), np.tile(VALUES, (2, 1)))
            self.same(ht.pad(x, [(1, 2), (0, 1)]), np.pad(VALUES, [(1, 2), (0, 1)]))
            self.same(ht.where(x > 0, x, 0.0), np.where(VALUES > 0, VALUES, 0))
            self.same(ht.clip(x, -0.5, None), np.clip(VALUES, -0.5, None))
            self.same(ht.diff(x, axis=0), np.diff(VALUES, axis=0))

    def test_sorting_and_sets(self):
        for x in every_layout(VALUES):
            for axis in (0, 1):
                self.same(ht.sort(x, axis=axis), np.sort(VALUES, axis=axis))
                self.same(ht.argsort(x, axis=axis), np.argsort(VALUES, axis=axis))
        for x in every_layout(WHOLE):
            self.same(ht.unique(x), np.unique(WHOLE))
            self.same(ht.nonzero(x), np.nonzero(WHOLE))
            found = ht.unique_counts(x)
            self.same([found.values, found.counts], np.unique(WHOLE, return_counts=True))

    def test_linear_algebra(self):
        for x in every_layout(VALUES):
            self.same(x @ x.T, VALUES @ VALUES.T)
            self.same(ht.linalg.svdvals(x), np.linalg.svd(VALUES, compute_uv=False))
            q, r = ht.linalg.qr(x)
            self.same(q @ r, VALUES)
            self.same(ht.linalg.norm(x, ord="fro"), np.linalg.norm(VALUES))
            self.same(ht.cov(x), np.cov(VALUES))
            self.same(ht.einsum("ij,ik->jk", [x, x]), VALUES.T @ VALUES)
        square = VALUES[:4] + 4 * np.eye(4)
        for x in every_layout(square):
            self.same(ht.linalg.solve(x, ht.array(square[0])), np.linalg.solve(square, square[0]))
            self.same(ht.linalg.det(x), np.linalg.det(square))

    def test_piecewise_takes_a_list_of_truth_values_for_one_condition(self):
        for x in every_layout(np.array([0, 0])):
            self.same(ht.piecewise(x, [True, False], [1, 2]), np.piecewise(np.array([0, 0]), [True, False], [1, 2]))
        values = np.arange(6.0)
        for x in every_layout(values):
            self.same(ht.piecewise(x, x < 2, [-1, 1]), np.piecewise(values, values < 2, [-1, 1]))
            self.same(ht.piecewise(x, [x < 2, x > 4], [lambda v, by: v * by, 7], 3), np.piecewise(values, [values < 2, values > 4], [lambda v, by: v * by, 7], 3))

    def test_transforms(self):
        for x in every_layout(VALUES):
            self.same(ht.fft.fft(x, axis=0), np.fft.fft(VALUES, axis=0))
            self.same(ht.fft.irfft2(ht.fft.rfft2(x)), VALUES)
            self.same(ht.fft.fftshift(x, 1), np.fft.fftshift(VALUES, 1))

    def test_factories(self):
        for split in (None, 0):
            self.same(ht.arange(2, 11, 3, split=split), np.arange(2, 11, 3))
            self.same(ht.linspace(0, 1, 5, dtype="float64", split=split), np.linspace(0, 1, 5))
            self.same(ht.zeros((3, 2), split=split), np.zeros((3, 2)))
            self.same(ht.full(4, 2.5, split=split), np.full(4, 2.5))
            self.same(ht.eye(3, split=split), np.eye(3))
        self.assertEqual(str(ht.zeros(1).dtype), "float32")
        self.assertEqual(ht.array([1.5, 2]).dtype, ht.float32)
        self.assertEqual(ht.array(np.zeros(2)).dtype, np.float64)

    def test_random_numbers_do_not_depend_on_the_split(self):
        def drawn(split):
            ht.random.seed(4)
            return ht.random.normal(0.0, 1.0, (9, 2), split=split).numpy()

        self.same(drawn(0), drawn(None))
        self.same(drawn(1), drawn(None))
        self.assertGreater(np.std(drawn(0)), 0.1)
