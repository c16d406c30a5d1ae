"""Operators, indexing, memory shared with other libraries, errors, and ranks."""

import operator
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import torch
from layouts import RANK, RANKS, Case, every_layout
from mpi4py import MPI

import heatpp as ht

VALUES = np.arange(24.0).reshape(6, 4)
KEYS = [0, -1, slice(1, 4), slice(None, None, -2), (slice(None), 2), (..., 1), (None, 3), (slice(2), None, -1), [4, 0, 4], np.array([[1], [5]]),
        (np.array([0, 5]), np.array([3, 1])), VALUES > 9, (VALUES[:, 0] > 7, 1), (2, 3), ()]


class Arrays(Case):
    def test_operators(self):
        for x in every_layout(VALUES + 1):
            y = VALUES + 1
            for found, expected in ((x + 1, y + 1), (1 - x, 1 - y), (2 * x, 2 * y), (x / 2, y / 2), (1 / x, 1 / y), (x // 2, y // 2), (x % 3, y % 3),
                                    (x**2, y**2), (2**x, 2**y), (-x, -y), (abs(-x), y), (x > 3, y > 3), (x == x, y == y), (x - x, y - y), (divmod(x, 4), divmod(y, 4))):
                self.same(found, expected)
            x += 1
            x *= 2
            self.same(x, (y + 1) * 2)
        whole = ht.array([5, 6, 7], split=0)
        for found, expected in ((whole & 3, [1, 2, 3]), (whole | 8, [13, 14, 15]), (whole ^ 1, [4, 7, 6]), (whole << 1, [10, 12, 14]), (~whole, [-6, -7, -8]), (1 << whole, [32, 64, 128])):
            self.same(found, expected)

    def test_a_mask_selects_in_place_of_numpy(self):
        for x in every_layout(VALUES):
            self.same(x[x > 9], VALUES[VALUES > 9])

    def test_reading_selections(self):
        for key in KEYS:
            for x in every_layout(VALUES):
                with self.subTest(key=key, split=x.split):
                    self.same(x[key], VALUES[key])

    def test_writing_selections(self):
        for key in KEYS:
            for x in every_layout(VALUES):
                with self.subTest(key=key, split=x.split):
                    expected = VALUES.copy()
                    expected[key] = -1
                    x[key] = -1
                    self.same(x, expected)
                    expected[key] += 5
                    x[key] += 5
                    self.same(x, expected)

    def test_views_write_where_they_were_taken(self):
        for x in every_layout(VALUES):
            expected = VALUES.copy()
            row, expected_row = x[1:4], expected[1:4]
            row[0][2] = 50
            row *= 2
            ht.add_(row[1], 1)
            expected_row[0][2] = 50
            expected_row *= 2
            expected_row[1] += 1
            self.same(x, expected)
            self.same(row, expected_row)
            taken = x[[0, 1]]
            taken += 1  # a new array
            self.same(x, expected)

    def test_functions_as_the_array_api_spells_them(self):
        for x in every_layout(VALUES):
            self.same(ht.clip(x, max=7), np.clip(VALUES, None, 7))
            self.same(ht.full_like(x, 3, "int64"), np.full_like(VALUES, 3, "int64"))
            self.same(ht.unstack(x, axis=1), list(VALUES.T))
            self.same(ht.permute_dims(x, (1, 0)), VALUES.T)
            self.same(x.reshape(4, 6), VALUES.reshape(4, 6))
            self.same(ht.meshgrid(x[0], x[1]), np.meshgrid(VALUES[0], VALUES[1]))
            self.same(ht.linalg.trace(x, offset=1, dtype="float32"), np.trace(VALUES, offset=1))
            self.same(ht.linalg.matmul(x.mT, x), VALUES.T @ VALUES)
            self.same(ht.unique_inverse(x).inverse_indices, np.unique(VALUES, return_inverse=True)[1].reshape(VALUES.shape))
        self.assertEqual(ht.iinfo("int8"), (8, -128, 127, ht.int8))
        self.assertEqual(ht.finfo(ht.ones(1)).bits, 32)

    def test_numbers_of_python(self):
        x = ht.array([[3.5]], split=0)
        self.assertEqual((float(x), int(x), bool(x), x.item(), x.tolist()), (3.5, 3, True, 3.5, [[3.5]]))
        self.assertEqual([1, 2, 3][ht.array(2)], 3)
        self.assertEqual(len(ht.zeros((5, 2))), 5)
        self.assertEqual([float(each) for each in ht.arange(3, split=0)], [0, 1, 2])

    def test_text(self):
        x = ht.zeros((RANKS, 2), split=0)
        self.assertEqual(repr(x), f"<DNDarray ({RANKS}, 2) float32 split 0, block (1, 2) of rank {RANK} of {RANKS}>")
        self.assertIn("split=0", str(x))

    def test_memory_is_shared(self):
        mine = np.full((2, 3), float(RANK))
        x = ht.from_dlpack(mine, split=0)
        x += 1
        self.same(mine, np.full((2, 3), RANK + 1.0))
        self.assertEqual(x.shape, (2 * RANKS, 3))
        self.assertTrue(np.shares_memory(x.larray, mine))
        self.assertTrue(np.shares_memory(np.from_dlpack(x), mine))
        self.assertTrue(np.shares_memory(np.asarray(x), mine))
        tensor = torch.from_dlpack(x)
        tensor[0, 0] = 70
        self.assertEqual(mine[0, 0], 70)
        self.same(ht.from_dlpack(torch.arange(3), split=0), np.tile(np.arange(3), RANKS))
        for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"):
            y = ht.ones((2, 2), dtype=name)
            self.assertEqual((np.asarray(y).dtype.name, np.from_dlpack(y).dtype.name, y.larray.dtype.name), (name, name, name))
            self.assertEqual(ht.array(np.ones(2, dtype=name)).dtype, name)

    def test_arrays_of_numpy_are_put(self):
        values = np.zeros((4, 3))
        for x in every_layout(values):
            x[1] = np.arange(3.0)
            x[:, 0] = np.float32(2)
            x[3, 1] = np.array(5)
            self.same(x, [[2, 0, 0], [2, 1, 2], [2, 0, 0], [2, 5, 0]])

    def test_blocks_keep_no_more_than_themselves(self):
        for split in (0, 1, 2):
            block = ht.array(np.arange(24.0).reshape(4, 2, 3), split=split).larray
            self.assertTrue(block.flags.c_contiguous)

    def test_functions_of_numpy(self):
        values = np.arange(12.0).reshape(4, 3) + 1
        for x in every_layout(values):
            for found, expected in ((np.sum(x, axis=0), values.sum(axis=0)), (np.concatenate([x, x], axis=1), np.concatenate([values, values], axis=1)),
                                    (np.where(x > 5, x, values), values), (np.linalg.norm(x), np.linalg.norm(values)), (np.fft.fft(x), np.fft.fft(values)),
                                    (np.sin(x), np.sin(values)), (np.add(x, 2), values + 2), (values * x, values * values), (np.float32(2) * x, 2 * values),
                                    (values == x, values == values), (np.divmod(x, 5)[1], values % 5)):
                self.assertIsInstance(found, ht.DNDarray)
                self.same(found, expected)
            out = ht.zeros_like(x)
            self.assertIs(np.add(x, x, out=out), out)
            self.same(out, values + values)
            for refused in (lambda: np.busday_count(x, x), lambda: np.add.reduce(x), lambda: np.isnat(x), lambda: np.add.at(x, 0, 1),
                            lambda: np.add(x, 1, out=np.zeros((4, 3)))):
                with self.assertRaises(TypeError):
                    refused()
            written = values.copy()
            with self.assertRaises(TypeError):
                written += x

    def test_errors(self):
        x = ht.zeros((4, 3), split=0)
        for kind in (ValueError, IndexError, ht.AxisError):
            with self.assertRaisesRegex(kind, r"\[sum\] .*expected"):
                ht.sum(x, axis=2)
        with self.assertRaisesRegex(ValueError, "got .*; expected|broadcast"):
            x + ht.zeros((4, 2))
        with self.assertRaises(IndexError):
            x[4]
        with self.assertRaises(TypeError):
            ht.sum(x, axis="first")
        with self.assertRaises(TypeError):
            ht.zeros(2, dtype="float3")
        with self.assertRaises(TypeError):
            ht.array(np.array(["a"]))
        with self.assertRaises(OSError):
            ht.io.load("/nowhere/at/all.npy")
        with self.assertRaisesRegex(ValueError, "expected gzip, zstd, lz4 or blosc"):
            ht.io.save_zarr(x, "/nowhere/at/all.zarr", compression="zst")
        with self.assertRaises(ht.NotFittedError):
            ht.KMeans().predict(x)

    def test_what_files_say_of_numbers(self):
        folder = MPI.COMM_WORLD.bcast(tempfile.mkdtemp() if RANK == 0 else None)
        stored = np.array([10, -1, 30], np.int16)
        x = ht.array(stored, split=0)
        for path in (f"{folder}/x.h5", f"{folder}/x.zarr"):
            ht.io.save(x, path, attributes={"scale_factor": 0.5, "_FillValue": -1})
            self.same(ht.io.load(path, split=0), np.array([5, np.nan, 15]))
            self.same(ht.io.load(path, split=0, decode=False), stored)
        ht.io.save(x, f"{folder}/y.zarr", dataset="g/y", chunks=(1,), zarr_shards=(2,))
        self.same(ht.io.load(f"{folder}/y.zarr/g/y", split=0), stored)
        with self.assertRaisesRegex(ValueError, "got field"):
            ht.io.load(f"{folder}/y.zarr", field="lon")
        MPI.COMM_WORLD.barrier()
        if RANK == 0:
            shutil.rmtree(folder)

    def test_communicators_of_mpi4py(self):
        half = MPI.COMM_WORLD.Split(RANK % 2, RANK)
        x = ht.arange(6, split=0, comm=half)
        self.assertEqual((x.comm.size, x.comm.rank), (half.size, half.rank))
        self.assertEqual(x.comm, ht.zeros(2, comm=half).comm)
        self.same(x.sum(), 15)
        self.assertEqual(ht.zeros(2, comm=MPI.COMM_WORLD).comm, ht.world())
        self.assertEqual(MPI.Comm.fromhandle(x.comm.handle).size, half.size)
        with self.assertRaises(TypeError):
            ht.zeros(2, comm="world")

    def test_communicators_come_and_go(self):
        kept = []
        for i in range(6):
            comm = MPI.COMM_WORLD.Dup()
            x = ht.arange(6, split=0, comm=comm)
            self.same(x.sum(), 15)
            self.assertEqual(ht.zeros(1, comm=comm).comm, x.comm)
            self.assertNotIn(x.comm.handle, [each.comm.handle for each in kept])
            kept.append(x)
            comm.Free()
            if RANK == i % 2:
                other = MPI.COMM_SELF.Dup()  # may get the handle of a freed one, on this rank only
        other.Free() if RANK < 2 else None
        self.same(kept[0] + kept[-1], 2 * np.arange(6))

    def test_numbers_that_are_too_large(self):
        for x in every_layout(VALUES):
            for refused in (lambda: x + 10**400, lambda: operator.iadd(x, 10**400), lambda: x.sum(axis=2**32), lambda: x.reshape(2**70), lambda: ht.sum(x, axis=(0, 2**32 + 1)),
                            lambda: ht.zeros(2**64)):
                with self.assertRaises(TypeError):
                    refused()
            self.same(x, VALUES)
            self.same(x + 2**70, VALUES + 2.0**70)
        self.assertEqual((int(ht.array(1e30)), int(ht.array(-2.5)), int(ht.array(True))), (int(np.float32(1e30)), -2, 1))
        for number, kind in ((np.nan, ValueError), (np.inf, OverflowError), (1j, TypeError)):
            with self.assertRaises(kind):
                int(ht.array([number], split=0))

    def test_the_array_api_of_namespaces(self):
        x = ht.zeros(3, split=0)
        for version in ("2021.12", "2024.12", "2025.12", None):
            self.assertIs(x.__array_namespace__(api_version=version), ht)
        for version in ("2026.12", "2025.11", 2025):
            with self.assertRaisesRegex(ValueError, r"\[__array_namespace__\] got version .*; expected one of 2021.12 to 2025.12"):
                x.__array_namespace__(api_version=version)
        self.assertEqual(ht.__array_api_version__, "2025.12")
        for found in (ht.meshgrid(x, x), ht.broadcast_arrays(x, x), ht.__array_namespace_info__().devices(), ht.broadcast_shapes((2, 1), (3,))):
            self.assertIsInstance(found, tuple)
        self.assertEqual((ht.broadcast_shapes((2, 1), (3,)), ht.broadcast_shapes([(2, 1), (1, 3)]), ht.broadcast_shapes()), ((2, 3), (2, 3), ()))
        with self.assertRaises(ValueError):
            ht.broadcast_shapes((2,), (3,))
        self.assertEqual(ht.__array_namespace_info__().default_dtypes()["integral"], ht.int64)
        self.assertTrue(ht.isdtype(ht.float32, ("integral", "real floating")))
        self.assertEqual(ht.result_type(ht.int64, ht.float32, 1), ht.float64)
        self.assertEqual({ht.float32: 1}[ht.zeros(1).dtype], 1)


class OtherLibraries(Case):
    def test_are_named(self):
        if RANKS > 1:
            return
        for change, text in (("import sys; sys.version_info = (3, 4)", r"got Python 3\.4; expected Python 3\.\d+, for which heatpp was built"),
                             ("import importlib.metadata as m; m.version = lambda name: '1.0.0+cpu'", r"got torch 1\.0\.0; expected torch \d"),
                             ("import sys, types; sys.modules['mpi4py.MPI'] = types.SimpleNamespace(Get_library_version=lambda: 'MPI of theirs\\nand so on')",
                              "got mpi4py for MPI of theirs; expected one for (Open MPI|MPICH)")):
            program = f"{change}\ntry: import heatpp\nexcept ImportError as e: print(e)"
            alone = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}  # no rank of this job
            self.assertRegex(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, env=alone).stdout, text)
