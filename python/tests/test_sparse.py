"""Sparse matrices against scipy's, on every layout."""

import copy

import numpy as np
import scipy.sparse
from layouts import Case

import heatpp as ht

DENSE = np.where(np.random.default_rng(5).random((7, 5)) < 0.4, np.random.default_rng(6).normal(size=(7, 5)), 0)
OTHER = np.where(np.random.default_rng(7).random((7, 5)) < 0.4, 2.0, 0)


def every_matrix(values):
    for split in (None, 0):
        rows = ht.sparse.from_dense(ht.array(values, split=split))
        yield rows
        yield ht.sparse.to_csc(rows)


class Sparse(Case):
    def equal(self, found, expected):
        self.same(ht.sparse.to_dense(found), expected)

    def test_operators(self):
        vector, left = np.arange(5.0), np.arange(7.0)
        for m, other in zip(every_matrix(DENSE), every_matrix(OTHER)):
            for found, expected in ((m + other, DENSE + OTHER), (m - other, DENSE - OTHER), (m * other, DENSE * OTHER), (2 * m, 2 * DENSE), (m * 2.5, DENSE * 2.5),
                                    (m / 4, DENSE / 4), (-m, -DENSE), (abs(m), abs(DENSE)), (m ** 2, DENSE ** 2), (m.T, DENSE.T), (m @ other.T, DENSE @ OTHER.T),
                                    (m[1:4], DENSE[1:4]), (m[2:, :3], DENSE[2:, :3]), (m[[4, 0]], DENSE[[4, 0]]), (m[[1, 2], 1:], DENSE[[1, 2], 1:]),
                                    (copy.deepcopy(m), DENSE), (copy.copy(m), DENSE)):
                self.equal(found, expected)
            for split in (None, 0):
                x, y = ht.array(vector, split=split), ht.array(left, split=split)
                for found, expected in ((m @ x, DENSE @ vector), (y @ m, left @ DENSE), (m.T @ y, DENSE.T @ left)):
                    self.same(found, expected)
            for found, expected in ((m @ vector, DENSE @ vector), (left @ m, left @ DENSE), (m @ np.eye(5), DENSE), (np.eye(7) @ m, DENSE)):
                self.same(found, expected)
            for wrong in (lambda: m + 1, lambda: m * "a", lambda: m[1], lambda: m[1, 2], lambda: m @ None):
                with self.assertRaises(TypeError):
                    wrong()
        rows, columns = list(every_matrix(DENSE))[:2]
        self.equal(rows + columns, 2 * DENSE)
        self.equal(columns + rows, 2 * DENSE)

    def test_methods_and_words(self):
        for m in every_matrix(DENSE):
            self.same(m.sum(axis=0), DENSE.sum(axis=0))
            self.same(np.sum(m), DENSE.sum())
            self.equal(m.astype(ht.float32), DENSE.astype(np.float32))
            self.assertRegex(repr(m), rf"^<DCS[RC]Matrix of shape \(7, 5\), {np.count_nonzero(DENSE)} entries, float64, split (0|1|None)>$")
            self.assertIn("(0, ", str(m))

    def test_from_scipy(self):
        for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_matrix):
            for split in (None, 0):
                found = ht.sparse.from_scipy(kind(DENSE), split=split)
                self.equal(found, DENSE)
                self.assertEqual((found.split, found.dtype), (split, ht.float64))
