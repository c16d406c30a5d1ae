"""Lines with the same meaning in NumPy and heatpp, for arrays that are whole or split along either axis."""

import pathlib
import re

import numpy as np
from layouts import Case

import heatpp as ht


def _arrays():
    random = np.random.RandomState(3)
    x, v, t, c = random.randn(6, 5), random.randn(12), random.randn(2, 3, 4), random.randn(6) + 1j * random.randn(6)
    n, i = x.copy(), np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    n[1, 2] = n[4, 0] = np.nan
    return {"x": x, "v": v, "n": n, "i": i, "k": np.array([[1, 2], [1, 2], [3, 4]]), "c": c, "s": x[:5] @ x[:5].T + 5 * np.eye(5), "t": t,
            "i8": i.astype("i1"), "u8": i.astype("u1"), "b": v > 0}


def _cut(arrays, split):
    return {name: ht.array(values, split=None if split is None else min(split, values.ndim - 1)) for name, values in arrays.items()}


def _plain(value):
    return value.numpy() if isinstance(value, ht.DNDarray) else [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _outcome(run, space):
    """Returns the values, or that there is an error."""
    try:
        return run(space)
    except Exception:
        return Exception


def _left(line):
    def run(space):
        names = [name for name in space if name != "xp"]
        exec(line, space)
        return [_plain(space[name]) for name in names]
    return run


class Lines(Case):
    def alike(self, found, expected):
        if isinstance(expected, list):
            self.assertEqual(len(found), len(expected))
            for one, other in zip(found, expected):
                self.alike(one, other)
        elif isinstance(expected, type) or np.asarray(expected).dtype.kind not in "biufc":
            self.assertEqual(str(found), str(expected))
        else:
            found, expected = np.asarray(found), np.asarray(expected)
            self.assertEqual((found.shape, found.dtype.kind), (expected.shape, expected.dtype.kind))
            tolerance = 1e-5 if expected.dtype.itemsize <= 4 or expected.dtype == np.complex64 or found.dtype.itemsize < expected.dtype.itemsize else 1e-9
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)

    def test_lines(self):
        _, expressions, statements = re.split("^# .*$", (pathlib.Path(__file__).parent / "numpy_lines.txt").read_text(), flags=re.MULTILINE)
        runs = [(line, lambda space, line=line: _plain(eval(line, space))) for line in expressions.split("\n") if line]
        runs += [(line, _left(line)) for line in statements.split("\n") if line]
        self.assertGreater(len(runs), 600)
        for line, run in runs:
            with np.errstate(all="ignore"):
                expected = _outcome(run, {"xp": np, **_arrays()})
            for split in (None, 0, 1):
                with self.subTest(line=line, split=split):
                    self.alike(_outcome(run, {"xp": ht, **_cut(_arrays(), split)}), expected)
