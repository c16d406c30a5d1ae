"""Networks of torch.export, trained by heatpp."""

import importlib.util
import pathlib
import shutil
import tempfile
import unittest

import numpy as np
import torch
from layouts import RANK, RANKS, Case
from mpi4py import MPI

import heatpp as ht

ROWS = np.random.default_rng(7).normal(size=(40, 3)).astype(np.float32)
VALUES = (ROWS @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 0.3).astype(np.float32)
STEPS = 6
OPTIONS = dict(optimizer="sgd", learning_rate=0.1, epochs=STEPS, batch_size=40 * RANKS, shuffle="none", progress=False)
MISSING = [name for name in ("filelock", "networkx", "sympy") if importlib.util.find_spec(name) is None]


def network():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


class Heads(torch.nn.Module):
    """Two inputs, a dict of outputs, and a buffer that state_dict leaves out."""

    def __init__(self):
        super().__init__()
        self.body = network()
        self.register_buffer("scale", torch.tensor(2.0), persistent=False)

    def forward(self, x, shift):
        y = self.body(x)
        return {"value": y + shift, "scaled": y * self.scale}


class Halves(torch.nn.Module):
    def forward(self, outputs, targets):
        return 0.5 * (outputs - targets).square().mean()


@unittest.skipIf(MISSING, f"torch.export needs {MISSING}")
class Exported(Case):
    def setUp(self):
        folder = tempfile.mkdtemp() if RANK == 0 else None
        self.folder = pathlib.Path(MPI.COMM_WORLD.bcast(folder))

    def tearDown(self):
        MPI.COMM_WORLD.Barrier()
        if RANK == 0:
            shutil.rmtree(self.folder)

    def in_torch(self, scale=1.0):
        """Returns weights after steps on all rows."""
        module = network()
        sgd = torch.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(STEPS):
            sgd.zero_grad()
            (scale * torch.nn.functional.mse_loss(module(torch.from_numpy(ROWS)), torch.from_numpy(VALUES))).backward()
            sgd.step()
        return module

    def check_same(self, ours, module):
        for name, value in module.state_dict().items():
            self.same(ours.state_dict()[name].numpy(), value.numpy(), rtol=2e-4, atol=1e-5)

    def test_modules_programs_and_files_train_as_in_torch(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        example = torch.zeros(2, 3)
        program = torch.export.export(network(), (example,), dynamic_shapes=({0: torch.export.Dim("rows")},))
        if RANK == 0:
            torch.export.save(program, self.folder / "net.pt2")
        MPI.COMM_WORLD.Barrier()
        for ours in (ht.nn.ExportedModule(network(), example), ht.nn.ExportedModule(program), ht.nn.ExportedModule(self.folder / "net.pt2")):
            trainer = ht.nn.Trainer(ours, "mse", **OPTIONS)
            trainer.fit(x, y)
            expected = self.in_torch()
            self.check_same(ours, expected)
            self.same(trainer.predict(x), expected(torch.from_numpy(ROWS)).detach().numpy(), rtol=1e-4, atol=1e-5)
        ours.save(self.folder / "trained.pt2")
        ours.save_safetensors(self.folder / "trained.safetensors")
        again = torch.export.load(self.folder / "trained.pt2")
        self.same(again.module()(torch.from_numpy(ROWS)).detach().numpy(), trainer.predict(x).numpy(), rtol=1e-4, atol=1e-5)
        fresh = ht.nn.ExportedModule(network(), example)
        fresh.load_safetensors(self.folder / "trained.safetensors")
        self.check_same(fresh, self.in_torch())

    def test_losses_and_metrics_are_exported_too(self):
        columns = torch.zeros(2, 1), torch.zeros(2, 1)
        halves = ht.nn.ExportedModule(Halves(), columns)
        ours = ht.nn.ExportedModule(network(), torch.zeros(2, 3))
        result = ht.nn.Trainer(ours, halves, metrics={"halves": halves}, **OPTIONS).fit(ht.array(ROWS, split=0), ht.array(VALUES, split=0))
        self.check_same(ours, self.in_torch(0.5))
        self.assertEqual(result.ended, "complete")

    def test_several_inputs_and_outputs(self):
        module = Heads()
        ours = ht.nn.ExportedModule(module, (torch.zeros(2, 3), torch.zeros(2, 1)))
        found = ht.nn.Trainer(ours, Halves(), progress=False).predict({"x": ht.array(ROWS, split=0), "shift": ht.array(VALUES, split=0)})
        expected = module(torch.from_numpy(ROWS), torch.from_numpy(VALUES))
        self.assertEqual(list(found), ["value", "scaled"])
        for name, value in expected.items():
            self.same(found[name], value.detach().numpy(), rtol=1e-5, atol=1e-6)
        self.assertEqual(set(ours.state_dict()), set(module.state_dict()))

    def test_errors_are_raised_on_all_ranks(self):
        class Branches(torch.nn.Module):
            def forward(self, x):
                return x if x.sum() > 0 else -x

        self.assertRaisesRegex(TypeError, "got a module without inputs", ht.nn.ExportedModule, network())
        self.assertRaisesRegex(TypeError, "got int", ht.nn.ExportedModule, 3)
        self.assertRaisesRegex(ValueError, "cannot be exported and written", ht.nn.ExportedModule, Branches(), torch.zeros(2, 3))
        self.assertRaisesRegex(FileNotFoundError, "nowhere.pt2", ht.nn.ExportedModule, self.folder / "nowhere.pt2")
        net = ht.nn.Trainer(ht.nn.ExportedModule(network(), torch.zeros(2, 3)), "mse", progress=False)
        self.assertRaisesRegex(ValueError, 'got the input "input" of shape', net.predict, ht.array(VALUES, split=0))


if __name__ == "__main__":
    unittest.main()
