"""Arrays on grids of ranks: the option of every function that has a split, and what arrays tell of their grid."""

import os
import re
import shutil
import tempfile

import numpy as np
from layouts import RANK, RANKS, Case
from mpi4py import MPI

import heatpp as ht

GRIDS = [tuple(along) for along in np.ndindex(RANKS + 1, RANKS + 1) if np.prod(along) == RANKS]
# They take one axis: regrid is the resplit of grids, sparse matrices and samples consist of rows, and layouts know both.
WITHOUT = {"resplit", "resplit_", "to_string", "sample"}


def functions(module, seen):
    """Yields the functions and methods of a module of nanobind's, with their modules."""
    for name, value in vars(module).items():
        if isinstance(value, type(ht)) and value.__name__.startswith(ht._heatpp.__name__):
            yield from functions(value, seen)
        elif isinstance(value, type) and id(value) not in seen:
            seen.add(id(value))
            yield from functions(value, seen)
        elif hasattr(value, "__nb_signature__"):
            yield module.__name__, name, value


class Grids(Case):
    def test_every_function_with_a_split_has_a_grid(self):
        found = 0
        for module, name, function in functions(ht._heatpp, set()):
            for text, *_ in function.__nb_signature__:
                if re.search(r"\bsplit: ", text) and ".sparse" not in module and module != "Layout" and name not in WITHOUT:
                    found += 1
                    self.assertIn("grid: ", text, f"{module}.{name}")
        self.assertGreater(found, 60)

    def test_factories(self):
        values = np.arange(30.0).reshape(5, 6)
        for grid in [*GRIDS, "balanced"]:
            along = grid if grid != "balanced" else ht.regrid(ht.array(values), "balanced").grid
            for found, expected in ((ht.zeros((5, 6), grid=grid), np.zeros((5, 6))), (ht.full((5, 6), 3, grid=grid), np.full((5, 6), 3)), (ht.eye(5, 6, grid=grid), np.eye(5, 6)),
                                    (ht.array(values, grid=grid), values), (ht.array(values.tolist(), grid=grid), values), (ht.asarray(values, grid=grid), values),
                                    (ht.array(ht.array(values, split=1), grid=grid), values), (ht.array([ht.arange(6), ht.arange(6)], grid=grid), [range(6), range(6)]),
                                    (ht.ones_like(ht.array(values), grid=grid), np.ones((5, 6))), (ht.regrid(ht.array(values, split=0), grid), values)):
                with self.subTest(grid=grid):
                    self.same(found, np.asarray(expected))
                    self.assertEqual(found.grid, along if np.shape(expected) == (5, 6) else found.grid)
        self.same(ht.array(np.arange(4), ndmin=2, grid=(1, RANKS)), np.arange(4)[None])
        self.same(ht.arange(7, grid=RANKS), np.arange(7))
        self.same(ht.linspace(0, 1, 7, dtype=ht.float64, grid=(RANKS,)), np.linspace(0, 1, 7))

    def test_random_numbers(self):
        for draw in (lambda **on: ht.random.random((5, 6), **on), lambda **on: ht.random.normal(1.0, 2.0, (5, 6), **on), lambda **on: ht.random.Generator(3).integers(0, 9, (5, 6), **on),
                     lambda **on: ht.random.choice(9, (5, 6), **on)):
            ht.random.seed(1)
            expected = draw().numpy()
            for grid in GRIDS:
                ht.random.seed(1)
                self.same(draw(grid=grid), expected)

    def test_memory(self):
        values = np.arange(30.0).reshape(5, 6)
        for grid in GRIDS:
            rows, columns = (np.array_split(np.arange(n), along) for n, along in zip(values.shape, grid))
            mine = np.ascontiguousarray(values[np.ix_(rows[RANK // grid[1]], columns[RANK % grid[1]])])
            for x in (ht.from_local(mine, grid=grid), ht.from_dlpack(mine, grid=grid)):
                self.same(x, values)
                self.assertEqual(x.grid, grid)
                self.same(x.sum(0), values.sum(0))
            x += 1
            self.assertEqual(mine.sum(), x.larray.sum())

    def test_files(self):
        values = np.arange(30.0).reshape(5, 6)
        folder = MPI.COMM_WORLD.bcast(tempfile.mkdtemp() if RANK == 0 else None)
        path = os.path.join(folder, "x")
        for ending in (".h5", ".npy", ".zarr", ".csv"):
            ht.io.save(ht.array(values, split=0), path + ending)
            for grid in [*GRIDS, "balanced"]:
                x = ht.io.load(path + ending, grid=grid, dtype=ht.float64)
                self.same(x, values)
                self.assertEqual(np.prod(x.grid), RANKS)
        MPI.COMM_WORLD.barrier()
        if RANK == 0:
            shutil.rmtree(folder)

    def test_what_arrays_tell(self):
        self.assertEqual(ht.zeros((4, 3)).grid, (1, 1))
        self.assertEqual(ht.zeros((4, 3), split=1).grid, (1, RANKS))
        self.assertEqual(ht.zeros(()).grid, ())
        if RANKS != 4:
            return
        x = ht.zeros((4, 4), grid=(2, 2))
        self.assertIn("grid (2, 2), block (2, 2) of rank", repr(x))
        with self.assertRaisesRegex(ValueError, r"x.grid\(\)"):
            x.split
        with self.assertRaisesRegex(AttributeError, "each rank has a part"):
            x.__array__

    def test_predictions_of_folds(self):
        rows = np.random.default_rng(3).random((24, 4))
        target = rows @ np.arange(1.0, 5.0) + 1
        expected = ht.cross_val_predict(ht.LinearRegression(), ht.array(rows), ht.array(target)).numpy()
        for grid in {(RANKS, 1), (2, RANKS // 2) if RANKS % 2 == 0 else (1, RANKS)}:
            found = ht.cross_val_predict(ht.LinearRegression(), ht.array(rows, grid=grid), ht.array(target, split=0))
            self.assertEqual(found.split, 0 if RANKS > 1 else None)
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10)
            for fold, whole in zip(ht.KFold(n_splits=3).split(ht.array(rows, grid=grid)), ht.KFold(n_splits=3).split(ht.array(rows))):
                np.testing.assert_array_equal(fold[1].numpy(), whole[1].numpy())

    def test_blocks_take_a_split_or_a_grid(self):
        rank = ht.world().rank
        block = np.arange(6.0).reshape(2, 3) + 6 * rank
        make = lambda **on: ht.from_blocks(block, (2 * rank, 0), (2 * RANKS, 3), **on)  # noqa: E731
        values = np.arange(6.0 * RANKS).reshape(2 * RANKS, 3)
        for options, split in (({}, 0), ({"split": 0}, 0), ({"split": 1}, 1), ({"split": None}, None), ({"grid": (1, RANKS)}, 1)):
            x = make(**options)
            np.testing.assert_array_equal(x.numpy(), values)
            self.assertEqual(x.split, split if RANKS > 1 or "grid" not in options else None)
        with self.assertRaisesRegex(ValueError, "got split 0 and grid"):
            make(split=0, grid=(RANKS, 1))

    def test_errors(self):
        for make in (lambda **on: ht.zeros((4, 6), **on), lambda **on: ht.random.random((4, 6), **on), lambda **on: ht.array(np.zeros((4, 6)), **on)):
            with self.assertRaisesRegex(ValueError, "got split 0 and grid"):
                make(split=0, grid=(RANKS, 1))
            with self.assertRaisesRegex(ValueError, f"on {RANKS} ranks"):
                make(grid=(RANKS, 2))
            with self.assertRaises(ValueError):
                make(grid=(RANKS, 1, 1))
            with self.assertRaises(TypeError):
                make(grid="cubic")
        with self.assertRaisesRegex(ValueError, f"on {RANKS} ranks"):
            ht.regrid(ht.zeros((4, 6)), (RANKS, 2))

    def test_a_mistake_on_one_rank_is_an_error_on_all(self):
        last = RANK == RANKS - 1
        for grid in GRIDS:
            for wrong in (np.zeros((2, 3, 1)), np.zeros((2, 3), np.int32) if RANKS > 1 else np.zeros(3)):
                with self.assertRaises(ValueError):
                    ht.from_local(wrong if last else np.zeros((2, 3)), grid=grid)
            with self.assertRaises(ValueError):
                ht.from_local(np.zeros((2, 3)), grid=(RANKS, 2) if last else grid)
            if grid[0] > 1 and grid[1] > 1:
                with self.assertRaisesRegex(ValueError, "at place"):
                    ht.from_local(np.zeros((3 if last else 2, 3)), grid=grid)
            self.same(ht.from_local(np.ones((2, 3)), grid=grid).sum(), np.asarray(6.0 * RANKS))
