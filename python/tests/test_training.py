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


class Tagger(torch.nn.Module):
    """Returns scores of classes at each place of a sequence."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.scores = torch.nn.Linear(3, 4)

    def forward(self, x):
        return self.scores(x).transpose(1, 2)


class Weighted(torch.nn.Module):
    """Returns mean squares, in which class 1 counts 20 times, and their weight."""

    def forward(self, outputs, targets):
        weights = torch.where(targets == 1, 20.0, 1.0) * (targets >= 0)
        return (outputs.square().sum(1) * weights).sum() / weights.sum(), weights.sum()


def squares(outputs, targets):
    return (outputs - targets).square().mean()


def fourths(outputs, targets):
    return (outputs - targets).pow(4).mean()


def crossed(outputs, targets):
    return (outputs @ targets).mean()


def of_points(outputs, targets, points):
    return (outputs - targets + points).square().mean()


class Spectral(torch.nn.Module):
    """The spectral layer of a Fourier neural operator."""

    def __init__(self, dtype=torch.complex64):
        super().__init__()
        torch.manual_seed(3)
        self.weight = torch.nn.Parameter(torch.rand(2, 2, 5, dtype=dtype))

    def forward(self, x):
        return torch.fft.irfft(torch.einsum("bix,iox->box", torch.fft.rfft(x), self.weight), n=8)


class Encoded(torch.nn.Module):
    """A network with a buffer that state_dict leaves out."""

    def __init__(self):
        super().__init__()
        self.inner = network(3)
        self.register_buffer("pe", torch.ones(3), persistent=False)
        self.register_buffer("kept", torch.zeros(3))

    def forward(self, x):
        return self.inner(x) + self.pe + self.kept


class Training(Case):
    def setUp(self):
        folder = tempfile.mkdtemp() if RANK == 0 else None
        self.folder = pathlib.Path(MPI.COMM_WORLD.bcast(folder))

    def tearDown(self):
        MPI.COMM_WORLD.Barrier()
        if RANK == 0:
            shutil.rmtree(self.folder)

    def in_torch(self, steps, rate, loss):
        """Returns weights after steps on all rows."""
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

    def test_options_of_daso(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        for options in (dict(wire="int4", fragments=2), dict(partners="pairs"), dict(patience=0.05, quorum=0.5)):
            trainer = ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", daso="default", daso_options=options, warmup=0.2, cooldown=0.2, learning_rate=0.02, epochs=20, batch_size=10, progress=False)
            before = trainer.evaluate((x, y)).loss
            trainer.fit(x, y)
            self.assertLess(trainer.evaluate(x, y).loss, before / 4)
        for options, text in ((dict(wire="int2"), "float32, bfloat16, int8, int4 or float4"), (dict(partners="three"), "all or pairs"), (dict(fragments=0), "got 0 fragments"),
                              (dict(fragments=1.5), "a whole number"), (dict(quorum=0), "quorum of 0"), (dict(patience="long"), "a number"), (dict(speed=1), "expected wire, partners, fragments")):
            with self.assertRaisesRegex(ValueError, text):
                ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", daso="default", daso_options=options).fit(x, y)
        with self.assertRaisesRegex(ValueError, "daso_options without daso"):
            ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", daso_options=dict(fragments=2))

    def test_shared_optimizer_and_weights(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        groups = [{"params": ["*.bias"], "learning_rate": 0.005}]
        plain = dict(daso="default", warmup=0.2, cooldown=0.2, learning_rate=0.02, groups=groups, epochs=4, batch_size=10, shuffle="none", progress=False)
        alone = dict(plain, daso=None, warmup=0.0, cooldown=0.0)
        for common, sharing in ((plain, dict(shard="node")), (plain, dict(shard="node", shard_weights=True)), (alone, dict(shard="all")), (alone, dict(shard="all", shard_weights=True))):
            losses = []
            for shared in ({}, sharing):
                torch.manual_seed(1)
                trainer = ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", **common, **shared)
                trainer.fit(x, y)
                losses.append(trainer.evaluate(x, y).loss)
            self.assertAlmostEqual(losses[0], losses[1], places=6)
        for sharing, text in ((dict(shard_weights=True), "shard_weights without shard;"), (dict(shard="rack"), "node.*all"), (dict(shard="all", daso="default"), "all ranks share")):
            with self.assertRaisesRegex(ValueError, text):
                ht.nn.Trainer(ht.nn.ScriptModule(network()), "mse", **sharing).fit(x, y)

    def check_steps(self, module, ours, x, y, step, loss, kind, **options):
        """Trains both on all rows, and compares their weights, losses of epochs and results of evaluate."""
        data = ht.array(x, split=0), ht.array(y, split=0)
        trainer = ht.nn.Trainer(ours, loss, epochs=10, batch_size=len(x) * RANKS, shuffle="none", progress=False, **options)
        result = trainer.fit(*data)
        optimizer = kind(module.parameters())
        for epoch in result.epochs:
            optimizer.zero_grad()
            value = step(module(torch.from_numpy(x)), torch.from_numpy(y))
            self.assertAlmostEqual(epoch.loss, value.item(), places=4)
            value.backward()
            optimizer.step()
        for name, value in ours.state_dict().items():
            self.same(value.numpy(), module.state_dict()[name].numpy(), rtol=1e-4, atol=1e-5)
        self.assertAlmostEqual(trainer.evaluate(*data).loss, step(module(torch.from_numpy(x)), torch.from_numpy(y)).item(), places=4)

    def test_losses_weigh_rows_as_in_one_process(self):
        sgd = lambda parameters: torch.optim.SGD(parameters, lr=0.5)  # noqa: E731
        x = RANDOM.normal(size=(12, 8, 3)).astype(np.float32)
        tags = RANDOM.integers(0, 4, size=(12, 8))
        for row, tail in enumerate(RANDOM.integers(1, 8, size=12)):
            tags[row, tail:] = -100
        tags[:4] = -100  # on three ranks, one rank has no target that counts
        options = dict(optimizer="sgd", learning_rate=0.5)
        entropy = torch.nn.functional.cross_entropy
        self.check_steps(Tagger(), ht.nn.ScriptModule(Tagger()), x, tags, entropy, "cross_entropy", sgd, **options)
        classes = [1.0, 20.0, 0.5, 2.0]
        weighted = lambda y, t: entropy(y, t, torch.tensor(classes), ignore_index=2, label_smoothing=0.1)  # noqa: E731
        self.check_steps(Tagger(), ht.nn.ScriptModule(Tagger()), x, abs(tags) % 4, weighted, "cross_entropy", sgd, loss_options=dict(class_weights=classes, ignore_index=2, label_smoothing=0.1), **options)
        self.check_steps(Tagger(), ht.nn.ScriptModule(Tagger()), x, tags, lambda y, t: Weighted()(y, t)[0], ht.nn.ScriptModule(Weighted()), sgd, loss_returns_weight=True, **options)

        net = ht.nn.ScriptModule(Tagger())
        for wrong, text in ((dict(loss_options=dict(ignore=1)), r"loss_options\[.ignore.\]"), (dict(loss_options=dict(ignore_index=0.5)), "a whole number"),
                            (dict(loss_options=dict(reduction="none")), "mean or sum"), (dict(loss_returns_weight=True), "has it anyway"),
                            (dict(loss="mse", loss_options=dict(ignore_index=1)), "got ignore_index")):
            self.assertRaisesRegex(ValueError, text, ht.nn.Trainer, net, **wrong)
        self.assertRaisesRegex(ValueError, "got a loss of 2 values and loss_returns_weight=False", ht.nn.Trainer(net, ht.nn.ScriptModule(Weighted()), progress=False).evaluate, x, tags)

    def test_complex_weights_are_torchs(self):
        x = RANDOM.normal(size=(12, 2, 8)).astype(np.float32)
        y = np.roll(x, 1, axis=2)
        for name, kind in (("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)):
            of_torch = lambda parameters, kind=kind: kind(parameters, lr=0.02)  # noqa: E731
            self.check_steps(Spectral(), ht.nn.ScriptModule(Spectral()), x, y, torch.nn.functional.mse_loss, "mse", of_torch, optimizer=name, learning_rate=0.02)

    def test_best_weights_of_complex128_are_real_numbers_with_one_more_axis(self):
        from safetensors.torch import load_file

        x = RANDOM.normal(size=(12, 2, 8))
        data = ht.array(x, split=0), ht.array(np.roll(x, 1, axis=2), split=0)
        ours, fresh = ht.nn.ScriptModule(Spectral(torch.complex128)), ht.nn.ScriptModule(Spectral(torch.complex128))
        ht.nn.Trainer(ours, "mse", learning_rate=0.02, folder=self.folder / "run", progress=False).fit(*data, validation=data)
        weight = torch.view_as_complex(load_file(self.folder / "run" / "best.safetensors")["weight"])
        self.same(weight.numpy(), ours.state_dict()["weight"].numpy(), rtol=0, atol=0)
        fresh.load_safetensors(self.folder / "run" / "best.safetensors")
        self.same(fresh.state_dict()["weight"].numpy(), weight.numpy(), rtol=0, atol=0)

    @unittest.skipIf(RANKS == 1, "nothing differs on one rank")
    def test_what_one_rank_was_given_otherwise_is_an_error_on_all(self):
        last, ours = RANK == RANKS - 1, ht.nn.ScriptModule(network())
        of_squares, of_fourths = ht.nn.ScriptModule(squares), ht.nn.ScriptModule(fourths)
        for wrong, text in ((dict(groups=[{"params": "9.*" if last else "0.*"}]), r'got the group "9\.\*", which no trained parameter'),
                            (dict(groups=[{"params": [3] if last else ["0.*"]}]), "got a group of tensors"),
                            (dict(groups=[{"params": "2.*" if last else "0.*"}]), r'got groups \[\("0\.\*"\)\] on rank 0 and \[\("2\.\*"\)\] on rank'),
                            (dict(optimizer="newton" if last else "adam"), "expected one of sgd"),
                            (dict(loss="l1" if last else "mse"), 'got loss "mse" on rank 0 and "l1" on rank'),
                            (dict(loss=squares if last else "mse"), 'got loss "mse" on rank 0 and squares of checksum'),
                            (dict(loss=squares if last else fourths), "got loss fourths of checksum .* on rank 0 and squares of checksum"),
                            (dict(loss=of_squares if last else of_fourths), "got loss ScriptModule of checksum .* on rank 0 and ScriptModule of checksum"),
                            (dict(loss="huber", loss_options={"delta": 2.0 if last else 1.0}), "got delta 1 on rank 0 and 2 on rank"),
                            (dict(loss_options={"delta": 2.0} if last else {}), "got delta; expected it for huber"),
                            (dict(loss="mse", metrics=["l1"] if last else []), r'got metrics \{\} on rank 0 and \{l1: "l1"\} on rank'),
                            (dict(transforms=[squares] if last else []), "got functions as transforms 0 on rank 0 and 1 on rank")):
            with self.assertRaisesRegex((TypeError, ValueError), text):
                ht.nn.Trainer(ours, **wrong)
        self.assertEqual(ht.nn.Trainer(ours, squares, metrics={"f": fourths}, progress=False).evaluate(ht.array(ROWS, split=0), ht.array(VALUES, split=0)).rows, 40)  # nothing is left under way

    def test_the_network_has_the_running_mean(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        options = dict(optimizer="sgd", learning_rate=0.1, epochs=3, batch_size=12, progress=False)
        plain, ours = ht.nn.ScriptModule(network()), ht.nn.ScriptModule(network())
        of_plain, trainer = ht.nn.Trainer(plain, "mse", **options), ht.nn.Trainer(ours, "mse", ema=0.5, **options)
        for _ in range(2):
            of_plain.fit(x, y)
            trainer.fit(x, y)
            raw, expected, module = trainer.raw_state_dict(), plain.state_dict(), network()
            module.load_state_dict(ours.state_dict())
            for name, value in expected.items():
                self.same(raw[name].numpy(), value.numpy(), rtol=0, atol=0)
                self.assertFalse(torch.equal(module.state_dict()[name], value))
            self.same(trainer.predict(x), module(torch.from_numpy(ROWS)).detach().numpy(), rtol=1e-5, atol=1e-6)

    def test_buffers_that_are_not_persistent_and_networks_that_cannot_be_written(self):
        module, ours = Encoded(), ht.nn.ScriptModule(Encoded())
        self.assertEqual(set(ours.state_dict()), set(module.state_dict()))
        module.load_state_dict(ours.state_dict())
        ours.save(self.folder / "net.pt")
        self.assertEqual(set(ht.nn.ScriptModule(self.folder / "net.pt").state_dict()), set(module.state_dict()))
        ours.save_safetensors(self.folder / "net.safetensors")
        ht.nn.ScriptModule(Encoded()).load_safetensors(self.folder / "net.safetensors")

        class Odd(torch.nn.Module):
            def forward(self, x):
                return x if RANK == 0 else unknown(x)  # noqa: F821

        self.assertRaisesRegex(ValueError, "got a module that cannot be scripted and written", ht.nn.ScriptModule, Odd())

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
                            (dict(warmup=0.2), "warm-up 0.2 and cool-down 0 without daso"), (dict(batch_size=0), "batches of 0 rows"), (dict(metrics=["f1"]), 'got "f1"')):
            with self.assertRaisesRegex(ValueError, text):
                ht.nn.Trainer(ours, **wrong)
        x, y = ht.array(ROWS, split=0), ht.array(VALUES[:, 0], split=0)
        with self.assertRaisesRegex(ValueError, "outputs of shape"):
            ht.nn.Trainer(ours, "mse", progress=False).evaluate((x, y))
        with self.assertRaisesRegex(ValueError, 'whose third parameter is "points"; expected the name "inputs"'):
            ht.nn.Trainer(ours, of_points)
        with self.assertRaisesRegex(ValueError, "got inputs that the loss refuses .mat1 and mat2 shapes"):
            ht.nn.Trainer(ours, crossed, progress=False).evaluate(x, ht.array(VALUES, split=0))
        with self.assertRaisesRegex(ValueError, "got inputs that the metric refuses .mat1 and mat2 shapes"):
            ht.nn.Trainer(ours, "mse", metrics={"crossed": crossed}, progress=False).evaluate(x, ht.array(VALUES, split=0))
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
        normed = ht.nn.ScriptModule(torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1)))
        rows = 2 * RANKS + 1  # in the second batch one rank has a row, and the others have none
        with self.assertRaisesRegex(ValueError, "got a batch of one row on a rank.*expected remainder drop or pad, or SyncBatchNorm"):
            ht.nn.Trainer(normed, "mse", batch_size=2 * RANKS, progress=False).fit(ht.array(ROWS[:rows], split=0), ht.array(VALUES[:rows], split=0))
        with self.assertRaisesRegex(OSError, "nowhere.pt"):
            ht.nn.ScriptModule(self.folder / "nowhere.pt")
        if RANKS == 1:
            with self.assertRaisesRegex(RuntimeError, "stop here"):
                def rate(batch, total):
                    raise RuntimeError("stop here")
                ht.nn.Trainer(ours, "mse", rate=rate, progress=False).fit((x, ht.array(VALUES, split=0)))
