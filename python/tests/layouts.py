"""Arrays of every layout, and what a test of them needs."""

import unittest

import numpy as np

import heatpp as ht

RANKS, RANK = ht.world().size, ht.world().rank


def uneven(values, split):
    """Returns `values` split so that the last rank holds most, and others little or nothing."""
    extent = values.shape[split]
    ends = [min(extent, rank) for rank in range(RANKS)] + [extent]
    return ht.from_local(np.ascontiguousarray(np.take(values, range(ends[RANK], ends[RANK + 1]), axis=split)), split=split)


def every_layout(values):
    """Returns the array whole on every rank, and split along each axis, evenly and unevenly."""
    yield ht.array(values)
    for split in range(values.ndim):
        yield ht.array(values, split=split)
        yield uneven(values, split)


class Case(unittest.TestCase):
    def same(self, found, expected, **tolerance):
        """Compares one or several arrays of heatpp with NumPy's."""
        if isinstance(found, (tuple, list)):
            self.assertEqual(len(found), len(expected))
            for one, other in zip(found, expected):
                self.same(one, other, **tolerance)
            return
        found = found.numpy() if isinstance(found, ht.DNDarray) else found
        np.testing.assert_allclose(found, expected, **{"rtol": 1e-10, "atol": 1e-12, **tolerance})
        self.assertEqual(np.shape(found), np.shape(expected))
