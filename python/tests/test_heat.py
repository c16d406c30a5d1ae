"""HeAT's rules where they are not heatpp's, with arrays that are cut."""

import unittest

import heatpp
import heatpp.heat as ht
import numpy as np
import torch


class Heat(unittest.TestCase):
    def test_types(self):
        x = ht.arange(10, split=0)
        self.assertIs(x.dtype, ht.int32)
        self.assertIs((x.astype(ht.int64) + 1.5).dtype, ht.float32)
        self.assertIs((x / 2).dtype, ht.float32)
        self.assertIs(ht.exp(x).dtype, ht.float32)
        self.assertIs(ht.promote_types(ht.int32, ht.float32), ht.float32)
        self.assertIs(ht.promote_types(ht.int64, ht.float32), ht.float64)
        self.assertIs(ht.array([1.0]).dtype, ht.float32)
        self.assertIs(ht.array(np.ones(1)).dtype, ht.float64)

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

    def test_results(self):
        x = ht.array([[3, 1, 2], [0, 5, 0]], split=0)
        self.assertIs(ht.zeros(3) == ht.zeros(4), False)
        self.assertIs(ht.zeros(3) != ht.zeros(4), True)
        values, positions = ht.sort(x, axis=1)
        np.testing.assert_array_equal(values.numpy(), [[1, 2, 3], [0, 0, 5]])
        np.testing.assert_array_equal(positions.numpy(), [[1, 2, 0], [0, 2, 1]])
        np.testing.assert_array_equal(ht.nonzero(x).numpy(), [[0, 0], [0, 1], [0, 2], [1, 1]])
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
        centres = ht.cluster.KMeans(n_clusters=size, init=x[::2]).fit(x).cluster_centers_
        np.testing.assert_allclose(np.sort(centres.numpy()[:, 0]), 10.0 * np.arange(size))
        self.assertEqual(ht.cluster.KMeans(max_iter=7).get_params()["max_iter"], 7)
        self.assertIsInstance(x._x, heatpp.DNDarray)


if __name__ == "__main__":
    unittest.main()
