"""Networks of torch, trained by heatpp."""

import pathlib
import shutil
import signal
import tempfile
import threading
import unittest

import numpy as np
import torch
from layouts import RANK, RANKS, Case, uneven
from mpi4py import MPI

import heatpp as ht

RANDOM = np.random.default_rng(7)
ROWS = RANDOM.normal(size=(40, 3)).astype(np.float32)
VALUES = (ROWS @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 0.3).astype(np.float32)
CLASSES = (ROWS[:, 0] > ROWS[:, 1]).astype(np.int64)


def network(outputs=1):
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, outputs))


class AbsoluteLoss(torch.nn.Module):
    def forward(self, outputs, targets):
        return (outputs - targets).abs().mean()


class Training(Case):
    def setUp(self):
        folder = tempfile.mkdtemp() if RANK == 0 else None
        self.folder = pathlib.Path(MPI.COMM_WORLD.bcast(folder))

    def tearDown(self):
        MPI.COMM_WORLD.Barrier()
        if RANK == 0:
            shutil.rmtree(self.folder)

    def in_torch(self, steps, rate, loss):
        """Weights after steps on all rows."""
        module = network()
        sgd = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
        for step in range(steps):
            sgd.param_groups[0]["lr"] = rate(step)
            sgd.zero_grad()
            loss(module(torch.from_numpy(ROWS)), torch.from_numpy(VALUES)).backward()
            sgd.step()
        return {name: value.detach().numpy() for name, value in module.state_dict().items()}

    def test_trainings_of_one_network_take_turns(self):
        module, ours = network(), ht.nn.ScriptModule(network())
        options = {"optimizer": "sgd", "momentum": 0.9, "epochs": 3, "batch_size": 40 * RANKS, "shuffle": "global", "progress": False}
        data = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        first = ht.nn.Trainer(ours, "mse", learning_rate=0.1, **options)
        failing = ht.nn.Trainer(ours, "mse", rate=lambda batch, total: 1 / 0, **options)
        odd = ht.nn.Trainer(ours, "mse", rate=lambda batch, total: "fast", **options)
        for trainer, error in ((first, None), (failing, ZeroDivisionError), (odd, TypeError), (first, None)):
            if error:
                self.assertRaises(error, trainer.fit, *data)
            else:
                trainer.fit(*data)
        module.load_state_dict(ours.state_dict())
        for name, value in self.in_torch(6, lambda step: 0.1, torch.nn.functional.mse_loss).items():
            self.same(module.state_dict()[name].numpy(), value, rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(TypeError, "got int; expected a module"):
            ht.nn.ScriptModule(3)

    def test_steps_are_torchs_on_any_ranks(self):
        rate = lambda batch, total=6: 0.1 * (1 - batch / total)  # noqa: E731
        for cut in (lambda values: ht.array(values, split=0), lambda values: uneven(values, 0), lambda values: ht.array(values, split=1), lambda values: values, list):
            for loss, of_torch in (("mse", torch.nn.functional.mse_loss), (ht.nn.ScriptModule(AbsoluteLoss()), torch.nn.functional.l1_loss)):
                module = network()
                ours = ht.nn.ScriptModule(module)
                trainer = ht.nn.Trainer(ours, loss, optimizer="sgd", momentum=0.9, rate=rate, epochs=6, batch_size=40 * RANKS, shuffle="global", progress=False)
                result = trainer.fit((cut(ROWS), cut(VALUES)))
                predicted = trainer.predict(cut(ROWS)).numpy()
                self.assertEqual((result.ended, result.batches, len(result.epochs)), ("complete", 6, 6))
                expected = self.in_torch(6, rate, of_torch)
                module.load_state_dict(ours.state_dict())
                for name, value in module.state_dict().items():
                    self.same(value.numpy(), expected[name], rtol=2e-4, atol=1e-5)
                self.same(predicted, module(torch.from_numpy(ROWS)).detach().numpy(), rtol=1e-5, atol=1e-6)
        self.assertRaisesRegex(ValueError, "equally many rows", trainer.fit, ROWS, VALUES[1:])
        self.assertRaisesRegex(ValueError, "got a number", trainer.fit, ROWS, 3)

    def test_classes_files_and_what_is_written(self):
        import h5py

        file = self.folder / "rows.h5"
        if RANK == 0:
            with h5py.File(file, "w") as stored:
                stored["x"], stored["y"] = ROWS, CLASSES
        MPI.COMM_WORLD.Barrier()
        stored = ht.nn.Dataset.from_hdf5(file, inputs="x", targets="y")
        self.assertEqual(len(stored), 40)
        module = network(2)
        ours = ht.nn.ScriptModule(module)
        options = dict(learning_rate=0.05, batch_size=8, metrics=["accuracy"], folder=self.folder / "run", progress=False)
        x, y = ht.array(ROWS, split=0), ht.array(CLASSES, split=0)
        first = ht.nn.Trainer(ours, epochs=4, **options).fit(stored, (x, y))
        self.assertLess(first.epochs[-1].validation.loss, first.epochs[0].validation.loss)
        trainer = ht.nn.Trainer(ours, epochs=12, resume=True, **options)
        result = trainer.fit(stored, (x, y))
        self.assertEqual([epoch.epoch for epoch in result.epochs], list(range(4, 12)))
        found = trainer.evaluate((x, y))
        self.assertGreater(found.metrics["accuracy"], 0.9)

        outputs = trainer.predict(x)
        self.assertEqual(outputs.split, 0)
        ours.save(self.folder / "trained.pt")
        ours.save_safetensors(self.folder / "trained.safetensors")
        again = ht.nn.ScriptModule(self.folder / "trained.pt")
        module.load_state_dict(again.state_dict())
        with torch.no_grad():
            expected = module(torch.from_numpy(ROWS)).numpy()
        self.same(outputs, expected, rtol=1e-5, atol=1e-6)
        self.assertAlmostEqual(found.loss, torch.nn.functional.cross_entropy(torch.from_numpy(expected), torch.from_numpy(CLASSES)).item(), places=5)
        fresh = ht.nn.ScriptModule(network(2))
        fresh.load_safetensors(self.folder / "trained.safetensors")
        self.same(ht.nn.Trainer(fresh, progress=False).predict(x), expected, rtol=1e-5, atol=1e-6)

    def test_daso(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        for daso in ("default", "automatic", "published"):
            trainer = ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", daso=daso, warmup=0.2, cooldown=0.2, learning_rate=0.02, epochs=20, batch_size=10, progress=False)
            before = trainer.evaluate((x, y)).loss
            trainer.fit(x, y)
            self.assertLess(trainer.evaluate(x, y).loss, before / 4)

    def test_several_inputs_and_another_communicator(self):
        class Sum(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.zeros(1))

            def forward(self, a, b):
                return self.scale * (a + b)

        half = ht.world().split(RANK % 2)
        x = ht.array(ROWS, split=0, comm=half)
        fields = ht.nn.Dataset({"a": x, "b": x}, {"sum": x + x})
        trainer = ht.nn.Trainer(ht.nn.ScriptModule(Sum(), comm=half), "mse", optimizer="sgd", learning_rate=0.1, epochs=30, batch_size=40 * RANKS, progress=False)
        trainer.fit(fields)
        self.assertLess(trainer.evaluate(fields).loss, 1e-4)

    def test_fields_are_given_in_the_order_of_their_dict(self):
        class Difference(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.ones(1))

            def forward(self, velocity, forcing):
                return self.scale * (velocity - forcing)

        x, y = ht.array(ROWS, split=0), ht.array(ROWS ** 2, split=0)
        fields = ht.nn.Dataset({"velocity": x, "forcing": y}, {"difference": x - y})
        self.assertEqual(ht.nn.Trainer(ht.nn.ScriptModule(Difference()), "mse", progress=False).evaluate(fields).loss, 0)

    @unittest.skipUnless(RANKS == 1, "an interrupt on one rank ends the others")
    def test_an_interrupt_ends_a_training(self):
        trainer = ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", epochs=1000000, batch_size=40, progress=False)
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        with self.assertRaises(KeyboardInterrupt):
            trainer.fit(ht.array(ROWS, split=0), ht.array(VALUES, split=0))
        trainer = ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", epochs=1, progress=False)
        trainer.fit(ht.array(ROWS, split=0), ht.array(VALUES, split=0))

    def test_errors(self):
        ours = ht.nn.ScriptModule(network())
        for wrong, text in ((dict(learning_rate=-1.0), "lr=-1.*at least 0"), (dict(momentum=0.9), "momentum for adam"), (dict(loss="squares"), 'got "squares"; expected one of cross_entropy'), (dict(optimizer="newton"), "expected one of sgd"), (dict(daso="on"), "expected default"),
                            (dict(batch_size=0), "batches of 0 rows"), (dict(metrics=["f1"]), 'got "f1"')):
            with self.assertRaisesRegex(ValueError, text):
                ht.nn.Trainer(ours, **wrong)
        x, y = ht.array(ROWS, split=0), ht.array(VALUES[:, 0], split=0)
        with self.assertRaisesRegex(ValueError, "outputs of shape"):
            ht.nn.Trainer(ours, "mse", progress=False).evaluate((x, y))
        classes = ht.array((VALUES[:, 0] > 0).astype(np.float32), split=0)
        two = ht.nn.ScriptModule(network(2))
        self.assertEqual(ht.nn.Trainer(two, metrics=["accuracy"], progress=False).evaluate(x, classes).rows, 40)  # classes as floats
        with self.assertRaisesRegex(ValueError, "expected a class for each row"):
            ht.nn.Trainer(ours, "mse", metrics=["accuracy"], progress=False).evaluate(x, ht.array(VALUES, split=0))
        with self.assertRaisesRegex(ValueError, "network refuses .mat1 and mat2 shapes"):
            ht.nn.Trainer(two, progress=False).evaluate(x[:, :2], classes)
        whose = rf" \(rank \d of {RANKS}\)" if RANKS > 1 else ""  # the same on all ranks
        with self.assertRaisesRegex(RuntimeError, rf"^Target [78] is out of bounds\.{whose}$"):
            ht.nn.Trainer(two, progress=False).evaluate(x, classes + 7)
        with self.assertRaisesRegex(OSError, "nowhere.pt"):
            ht.nn.ScriptModule(self.folder / "nowhere.pt")
        if RANKS == 1:
            with self.assertRaisesRegex(RuntimeError, "stop here"):
                def rate(batch, total):
                    raise RuntimeError("stop here")
                ht.nn.Trainer(ours, "mse", rate=rate, progress=False).fit((x, ht.array(VALUES, split=0)))
