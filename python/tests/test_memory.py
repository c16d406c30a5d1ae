"""What is written to views."""

import unittest

import numpy as np
from layouts import Case, every_layout

import heatpp as ht

VALUES = np.arange(24.0).reshape(6, 4)


class Views(Case):
    def test_positions_of_numpy_give_views(self):
        for x in every_layout(VALUES):
            expected, i = VALUES.copy(), np.int64(2)
            row = x[i]
            row += 1
            x[i, np.int8(1):][0] = 70
            np.add(x[0], x[1], out=x[np.uint8(5)])
            expected[2] += 1
            expected[2, 1] = 70
            expected[5] = expected[0] + expected[1]
            self.same(x, expected)

    def test_writing_leaves_the_rest_of_the_base_as_it_is(self):
        for x in every_layout(VALUES):
            expected, rows = VALUES.copy(), []
            for values in (x, expected):
                a, b, row = values[:-1], values[1:], values[2:5][1]
                a += 1
                b *= 2
                values[3, 0] = 90
                row[1] = 50
                rows.append(row)
            self.same(x, expected)
            self.same(*rows)


if __name__ == "__main__":
    unittest.main()
