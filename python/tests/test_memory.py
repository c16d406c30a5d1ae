"""Writes to views, and to memory that other libraries share."""

import hashlib
import unittest

import numpy as np
import torch
from layouts import RANK, Case, every_layout
from mpi4py import MPI

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


class Memory(Case):
    def test_what_was_handed_out_stays_that_of_the_array(self):
        for x in every_layout(VALUES):
            other, expected = x.reshape(4, 6), np.asarray(x).copy()
            block = x.larray
            before = torch.from_dlpack(x)
            x.larray.sum(), torch.from_dlpack(x), memoryview(x)
            block += 1
            self.same(np.asarray(x), expected + 1)
            x *= 2
            x[...] = x + 1
            self.same(block, 2 * expected + 3)
            self.same(before.numpy(), block)
            self.same(other, VALUES.reshape(4, 6))
            turned, row = x.T, x[0]
            x += 1
            self.same(turned.numpy(), 2 * VALUES.T + 3)
            self.same(row.numpy(), 2 * VALUES[0] + 3)

    def test_blocks_are_handed_out_by_some_ranks_alone(self):
        for split in (None, 0, 1):
            x = ht.array(VALUES, split=split)
            block = x.larray if RANK == 0 else None
            x += 1
            ht.resplit_(x, 1)
            self.same(x, VALUES + 1)
            self.assertFalse(x.is_adopted())
            del block

    def test_arrays_of_their_own_share_nothing(self):
        for make in (lambda x: x.T, lambda x: x.reshape(4, 6), lambda x: ht.flip(x, 0), lambda x: ht.ravel(x), lambda x: x[0], lambda x: x[1:3], lambda x: x[:, 1:3]):
            for x in every_layout(VALUES):
                torch.from_dlpack(make(x))[...] = -1
                self.same(x, VALUES)

    def test_views_are_read(self):
        for x in every_layout(VALUES):
            for part in (x[0], x[1:3], x[:, ::-1]):
                self.assertFalse(part.larray.flags.writeable)
                self.assertEqual(np.from_dlpack(part).flags.writeable, part.larray.size == 0)
                self.same(part.larray, np.asarray(part))
                with self.assertRaisesRegex(ValueError, "read-only"):
                    part.larray[...] = 5
                with self.assertRaisesRegex(BufferError, "expected max_version"):
                    part.__dlpack__()
                self.assertTrue(np.from_dlpack(part, copy=True).flags.writeable)
        mine = np.zeros(3)
        mine.flags.writeable = False
        with self.assertRaisesRegex(BufferError, "expected max_version"):
            ht.from_dlpack(mine, split=0).__dlpack__()
        self.assertFalse(np.from_dlpack(ht.from_dlpack(mine, split=0)).flags.writeable)

    def test_messages_of_mpi4py(self):
        x = ht.array(VALUES)
        for part, expected in ((x[1:3], VALUES[1:3]), (x[1:3].T, VALUES[1:3]), (x[:, 1:3], VALUES[:, 1:3])):
            received = np.zeros(expected.shape)
            MPI.COMM_SELF.Sendrecv(part, 0, recvbuf=received, source=0)
            self.same(received, expected)
        with self.assertRaises(BufferError):
            MPI.COMM_SELF.Sendrecv(received, 0, recvbuf=x[1:3], source=0)
        self.same(x, VALUES)
        MPI.COMM_SELF.Sendrecv(-VALUES, 0, recvbuf=x, source=0)
        self.same(x, -VALUES)

    def test_buffers_lie_as_they_are_asked_for(self):
        turned = ht.array(VALUES).T
        self.assertEqual((memoryview(turned).f_contiguous, memoryview(turned).c_contiguous), (True, False))
        with self.assertRaises(BufferError):
            hashlib.sha256(turned)  # needs contiguous bytes
        self.same(np.frombuffer(ht.array(VALUES)), VALUES.ravel())

    def test_devices_of_dlpack(self):
        x = ht.array(VALUES, split=0)
        self.same(np.from_dlpack(x, device="cpu"), np.asarray(x))
        with self.assertRaises(BufferError):
            x.__dlpack__(dl_device=(2, 0))


if __name__ == "__main__":
    unittest.main()
