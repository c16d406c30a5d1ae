"""Formulas of large arrays, which are computed when their elements are used."""

import unittest

import numpy as np
from layouts import RANK, RANKS, Case

import heatpp as ht

N = 60_000


def numbers(seed, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(N).astype(dtype)


class Formulas(Case):
    def test_have_the_bits_of_numpy(self):
        a, b, c = numbers(1), numbers(2), numbers(3)
        x, y, z = (ht.array(values, split=0) for values in (a, b, c))
        result = ht.sqrt(x * x + y * y) * z - x / (y * y + 1)
        self.assertTrue(np.array_equal(result.numpy(), np.sqrt(a * a + b * b) * c - a / (b * b + 1)))
        chosen = ht.where((x > 0) & (y <= 0.5), z.astype(ht.float64), -x)
        self.assertTrue(np.array_equal(chosen.numpy(), np.where((a > 0) & (b <= np.float32(0.5)), c.astype(np.float64), -a)))
        y += x * z
        y *= 2
        self.assertTrue(np.array_equal(y.numpy(), (b + a * c) * 2))

    def test_do_not_see_later_writes(self):
        a = numbers(4)
        x = ht.array(a, split=0)
        y, part = x * 2, x[: N // 2] + 1
        x[10] = 7
        x += 1
        self.assertTrue(np.array_equal(y.numpy(), a * 2))
        self.assertTrue(np.array_equal(part.numpy(), a[: N // 2] + 1))

    def test_read_the_memory_of_others_at_the_call(self):
        mine = np.full(N, RANK + 1, np.float32)
        x = ht.from_local(mine, split=0)
        y = ht.ones_like(x) + x * 2
        mine[:] = 50
        self.assertEqual(y.sum().item(), N * sum(2 * (rank + 1) + 1 for rank in range(RANKS)))

    def test_errors_come_at_the_call(self):
        x = ht.ones((N,), split=0) * 2
        with self.assertRaisesRegex(ValueError, r"\[add\] got"):
            x + ht.ones((7,))


if __name__ == "__main__":
    unittest.main()
