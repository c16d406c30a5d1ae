"""HeAT 1.9's rules, those of 1.8 on request, and the names that are new in 1.9, with arrays that are split."""

import os
import runpy
import unittest
import unittest.mock

import heatpp.heat as ht
import numpy as np
import torch
from heatpp.heat import _rules

VALUES = np.array([[3, 1, 2], [0, 5, 0]])


class Rules(unittest.TestCase):
    def setUp(self):
        self.addCleanup(ht.use_rules, ht.get_rules())

    def test_are_chosen(self):
        self.assertEqual(ht.get_rules(), os.environ.get("HEATPP_HEAT", "1.9"))
        with self.assertRaisesRegex(ValueError, "got '2'; expected one of 1.8, 1.9, also as HEATPP_HEAT"):
            ht.use_rules("2")
        for given, expected in (("1.8", "1.8"), ("", "1.9")):
            with unittest.mock.patch.dict(os.environ, {"HEATPP_HEAT": given}):
                self.assertEqual(runpy.run_path(_rules.__file__)["get_rules"](), expected)

    def test_of_sorting(self):
        for split in (None, 0, 1):
            x, sorted_, places = ht.array(VALUES, split=split), [[1, 2, 3], [0, 0, 5]], [[1, 2, 0], [0, 2, 1]]
            ht.use_rules("1.9")
            np.testing.assert_array_equal(ht.sort(x, axis=1).numpy(), sorted_)
            self.same(ht.sort(x, axis=1, return_sort_indices=True), (sorted_, places))
            np.testing.assert_array_equal(ht.sort(x, None).numpy(), np.sort(VALUES, None))
            out = ht.empty((2, 3), dtype=ht.int64, split=split)
            self.assertIsNone(ht.sort(x, 1, out=out))
            np.testing.assert_array_equal(out.numpy(), sorted_)
            with self.assertWarnsRegex(UserWarning, r"\[sort\] got True, which has no effect; expected axis, and descending by its name"):
                np.testing.assert_array_equal(ht.sort(x, 1, True).numpy(), sorted_)
            np.testing.assert_array_equal(ht.argsort(x, descending=True).numpy(), [[0, 2, 1], [1, 0, 2]])
            ht.use_rules("1.8")
            self.same(ht.sort(x, axis=1), (sorted_, places))
            self.same(ht.sort(x, 1, True), ([[3, 2, 1], [5, 0, 0]], [[0, 2, 1], [1, 0, 2]]))
            np.testing.assert_array_equal(ht.sort(x, 1, False, out).numpy(), places)
            with self.assertRaisesRegex(TypeError, "kind by name; expected a, axis, descending and out"):
                ht.sort(x, kind="stable")

    def same(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one.numpy(), other)

    def test_of_positions(self):
        matrix = np.argwhere(VALUES)
        for split in (None, 0, 1):
            x = ht.array(VALUES, split=split)
            ht.use_rules("1.9")
            for found in (ht.nonzero(x), ht.where(x), x.nonzero()):
                self.assertIsInstance(found, tuple)
                self.same(found, np.nonzero(VALUES))
                np.testing.assert_array_equal(x[found].numpy(), VALUES[VALUES != 0])
            np.testing.assert_array_equal(ht.nonzero(x, as_tuple=False).numpy(), matrix)
            np.testing.assert_array_equal(x[ht.array([[0, 1], [1, 1]])].numpy(), VALUES[[[0, 1], [1, 1]]])
            self.assertIs(x[...], x)
            ht.use_rules("1.8")
            np.testing.assert_array_equal(ht.nonzero(x).numpy(), matrix)
            np.testing.assert_array_equal(x[ht.where(x)].numpy(), VALUES[VALUES != 0])
            np.testing.assert_array_equal(x[ht.array([[0, 1], [1, 1]])].numpy(), [1, 5])

    def test_of_names_and_types(self):
        x = ht.array([1.0, 2, 4, 9, 3], split=0)
        for version, kind, many, name in (("1.9", ht.int64, tuple, "fischer"), ("1.8", ht.int32, list, "Fischer")):
            ht.use_rules(version)
            self.assertIs(ht.arange(3).dtype, kind)
            self.assertIs(ht.arange(0.0, 3).dtype, ht.float32)
            self.assertIsInstance(ht.broadcast_arrays(x, ht.ones((2, 5))), many)
            self.assertAlmostEqual(ht.kurtosis(x, **{name: False}) - ht.kurtosis(x), 3, places=5)
            self.assertAlmostEqual(ht.var(x, correction=1).item(), x.numpy().var(ddof=1), places=5)
            self.assertAlmostEqual(ht.var(x, None, 1).item(), x.numpy().var(ddof=1), places=5)
        self.assertIs(x.lloc, x.larray)
        ht.use_rules("1.9")
        with self.assertRaisesRegex(TypeError, "got an argument 'Fischer'"):
            ht.kurtosis(x, Fischer=False)
        with self.assertRaisesRegex(AttributeError, "expected larray"):
            x.lloc
        with self.assertWarnsRegex(UserWarning, "expected correction"):
            self.assertAlmostEqual(x.var(ddof=1).item(), x.numpy().var(ddof=1), places=5)
        for wrong in ("a", None, [3]):
            with self.assertRaisesRegex(TypeError, r"\[arange\] got .*; expected numbers"):
                ht.arange(1, 2, wrong)


class Names(unittest.TestCase):
    def test_of_sorting(self):
        x = np.random.default_rng(0).integers(0, 3, (9, 3, 2))
        for split in (None, 0, 1, 2):
            y = ht.array(x, split=split)
            for axis in (0, 1, -1):
                slices = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
                for descending, order in ((False, np.lexsort(slices.T[::-1])), (True, np.lexsort(-slices.T[::-1]))):
                    np.testing.assert_array_equal(ht.vectorized_sort(y, axis, descending, return_sort_indices_instead=True).numpy(), order)
                    found = ht.vectorized_sort(y, axis, descending)
                    np.testing.assert_array_equal(found.numpy(), np.take(x, order, axis))
                    self.assertEqual(found.split, split)
                for places in ([1, 0], torch.tensor([0, 1, 1]), ht.array([1, 0], split=0)):
                    np.testing.assert_array_equal(ht.take(y, places, axis).numpy(), np.take(x, getattr(places, "numpy", lambda: places)(), axis))
                found = ht.unique(y, return_inverse=True, axis=axis)
                for one, other in zip(found, np.unique(x, return_inverse=True, axis=axis)):
                    np.testing.assert_array_equal(one.numpy(), np.ravel(other) if one.ndim == 1 else other)
            np.testing.assert_array_equal(ht.take(y, 7).numpy(), x.ravel()[7])
            found = ht.unique_inverse(y)
            np.testing.assert_array_equal(found.values.numpy()[found.inverse_indices.numpy()], x)
            z = ht.array((x - 1j * x[::-1])[:, 0, 0], split=None if split is None else 0)
            values, order = ht.sort_complex(z, return_sort_indices=True)
            np.testing.assert_array_equal(values.numpy(), np.sort(z.numpy()))
            np.testing.assert_array_equal(z.numpy()[order.numpy()], values.numpy())
        for wrong in (lambda: ht.sort_complex(ht.ones(3)), lambda: ht.vectorized_sort(ht.ones(()))):
            with self.assertRaises(ValueError):
                wrong()

    def test_of_planes_that_are_convolved(self):
        rng = np.random.default_rng(1)
        for shape, size in (((7, 9), (3, 3)), ((2, 7, 9), (1, 2)), ((12, 5), (5, 3)), ((2, 3), (1, 1))):
            x, v = (rng.integers(-4, 5, each).astype(np.float64) for each in (shape, size))
            padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(n - 1, n - 1) for n in size])
            full = np.einsum("...ij,ij", np.lib.stride_tricks.sliding_window_view(padded, size, (-2, -1)), v[::-1, ::-1])
            inside = tuple(slice(n - 1, m) for n, m in zip(size, shape[-2:]))
            middle = tuple(slice(n // 2, n // 2 + m) for n, m in zip(size, shape[-2:]))
            for split in (None, *range(x.ndim)):
                for kind in (ht.float64, ht.int32):
                    y, kernel = ht.array(x, dtype=kind, split=split), ht.array(v, dtype=kind, split=0)
                    for options, expected in (({}, full), ({"mode": "valid"}, full[(..., *inside)]), ({"stride": (2, 3)}, full[..., ::2, ::3])):
                        found = ht.convolve2d(y, kernel, **options)
                        np.testing.assert_array_equal(found.numpy(), expected)
                        self.assertEqual((found.dtype, found.split), (kind, split))
                    if all(n % 2 for n in size):
                        np.testing.assert_array_equal(ht.convolve2d(y, kernel, "same").numpy(), full[(..., *middle)])
                    np.testing.assert_array_equal(ht.convolve2d(kernel, y).numpy(), full)
        one = ht.ones((4, 4), split=0)
        for wrong, text in ((lambda: ht.convolve2d(one, ht.ones((5, 1))), "smaller along both"), (lambda: ht.convolve2d(one, ht.ones((2, 2)), "same"), "odd extents"),
                            (lambda: ht.convolve2d(one, ht.ones((1, 1)), stride=(0, 1)), "positive"), (lambda: ht.convolve2d(one, one, "half"), "got mode 'half'")):
            with self.assertRaisesRegex(ValueError, text):
                wrong()
        with self.assertRaisesRegex(TypeError, "got uint8"):
            ht.convolve2d(one.astype(ht.uint8), one.astype(ht.uint8))

    def test_of_clusters(self):
        rows, labels = np.array([[1.0, 2], [1, 1], [4, 4], [4, 5], [9, 9]]), np.array([0, 0, 7, 7, 3])
        between = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
        expected = []
        for i, label in enumerate(labels):
            means = {each: between[i][labels == each].sum() / max(1, (labels == each).sum() - (each == label)) for each in (0, 3, 7)}
            a, b = means.pop(label), min(means.values())
            expected.append((b - a) / max(a, b) if (labels == label).sum() > 1 else 0)
        for split in (None, 0):
            x, y = ht.array(rows, split=split), ht.array(labels, split=split)
            found = ht.cluster.silhouette_samples(x, y.reshape((5, 1)))
            np.testing.assert_allclose(found.numpy(), expected)
            self.assertEqual(found.split, split)
            np.testing.assert_allclose(ht.cluster.silhouette_samples(ht.array(between, split=split), y, metric="precomputed").numpy(), expected)
            self.assertAlmostEqual(ht.cluster.silhouette_score(x, y), np.mean(expected))
            self.assertEqual((ht.cluster.silhouette_score(x, 0 * y), ht.cluster.silhouette_score(x, ht.arange(5, split=split))), (0, 0))
            for wrong in (lambda: ht.cluster.silhouette_samples(x, y[:3]), lambda: ht.cluster.silhouette_samples(ht.ones((5, 5), split=split), y, metric="precomputed")):
                with self.assertRaises(ValueError):
                    wrong()

    def test_of_the_array_api(self):
        x = ht.array([[1, 2], [3, 4]], split=0)
        self.assertIs(x.__array_namespace__(api_version="2025.12"), ht)
        self.assertEqual((ht.__array_api_version__, ht.newaxis), ("2025.12", None))
        with self.assertRaisesRegex(ValueError, "got version '2024.12'; expected 2025.12"):
            x.__array_namespace__(api_version="2024.12")
        info = ht.__array_namespace_info__()
        self.assertIn(ht.cpu, info.devices())
        self.assertEqual(info.dtypes(kind=("bool", "real floating")), {"bool": ht.bool, "float32": ht.float32, "float64": ht.float64})
        for wrong in (lambda: info.dtypes(kind="wide"), lambda: info.default_dtypes(device="cpu"), lambda: x.to_device(ht.cpu, stream=1), lambda: ht.sanitize_in_min_max_nd(x, 3)):
            with self.assertRaises(ValueError):
                wrong()
        self.assertIs(x.to_device(ht.cpu), x)
        self.assertIs(ht.astype(x, ht.int64, copy=False), x)
        self.assertTrue(ht.isdtype(ht.int8, ("bool", "integral")) and ht.isdtype(ht.float16, "numeric") and not ht.isdtype(ht.uint8, "signed integer"))
        with self.assertRaises(TypeError):
            ht.isdtype(ht.uint8, "int")
        np.testing.assert_array_equal(x.mT.numpy(), [[1, 3], [2, 4]])
        self.assertEqual([5, 6, 7][ht.array(1)], 6)
        with self.assertRaises(TypeError):
            [5, 6][ht.array(1.0)]
        whole = ht.arange(4)
        np.testing.assert_array_equal(np.from_dlpack(whole), np.arange(4))
        np.testing.assert_array_equal(ht.from_dlpack(torch.arange(3)).numpy(), np.arange(3))
        self.assertEqual((ht.finfo(ht.complex64).dtype, ht.iinfo(ht.int8).dtype), (ht.float32, ht.int8))
        if x.comm.size > 1:
            with self.assertRaisesRegex(BufferError, "got split 0"):
                torch.from_dlpack(x)


if __name__ == "__main__":
    unittest.main()
