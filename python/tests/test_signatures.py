"""Networks and losses of any signature, optimizers by name, and your own loops, compared with torch in one process."""

import pathlib
import shutil
import tempfile
from typing import Dict, List, Tuple

import numpy as np
import torch
from layouts import RANK, RANKS, Case, uneven
from mpi4py import MPI

import heatpp as ht

Tensor = torch.Tensor
RANDOM = np.random.default_rng(11)
ROWS = RANDOM.normal(size=(22, 3))
VALUES = RANDOM.normal(size=(22, 2))
WEIGHTS = RANDOM.random(22) + 0.1
OPTIONS = dict(batch_size=22, progress=False)


class Vae(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.mu, self.logvar, self.back = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2), torch.nn.Linear(2, 3)
        self.double()

    def forward(self, x, noise):
        mu, logvar = self.mu(x), self.logvar(x)
        return self.back(mu + noise * torch.exp(0.5 * logvar)), mu, logvar


def vae_loss(outputs: Tuple[Tensor, Tensor, Tensor], targets: Dict[str, Tensor], inputs: List[Tensor]):
    recon, mu, logvar = outputs
    off = (recon - inputs[0]).square().sum(1)
    return ((off - 0.5 * (1 + logvar - mu.square() - logvar.exp()).sum(1)) * targets["weight"]).mean()


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.p, self.m = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        self.double()

    def forward(self, x):
        return {"p": self.p(x), "m": self.m(x)}


def heads_loss(outputs: Dict[str, Tensor], targets: Dict[str, Tensor]):
    return (outputs["p"] - targets["p"]).square().mean() + (outputs["m"] - targets["m"]).abs().mean()


class Slope(torch.nn.Module):
    """Returns u = w x^2, and its derivative."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.full((1,), 3.0, dtype=torch.float64))

    def forward(self, rows):
        x = rows.detach().requires_grad_()
        u = self.w * x.square()
        slopes = torch.autograd.grad([u.sum()], [x], create_graph=True)[0]
        assert slopes is not None
        return u, slopes


def slope_loss(outputs: Tuple[Tensor, Tensor], targets):
    return (outputs[1] - targets).square().mean()


class Mixed(torch.nn.Module):
    """Real parameters around a complex one."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(6)
        self.a = torch.nn.Parameter(torch.randn(3, 2, dtype=torch.float64))
        self.b = torch.nn.Parameter(torch.randn(2, 2, dtype=torch.complex128))
        self.c = torch.nn.Parameter(torch.randn(2, dtype=torch.float64))

    def forward(self, x):
        return torch.view_as_real(torch.matmul(torch.matmul(x, self.a).to(torch.complex128), self.b)).square().sum(-1) + self.c


def linear():
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()


def mean_of_absolutes(outputs, targets):
    return (outputs - targets).abs().mean()


def noisier(inputs, targets):
    return 2 * inputs, targets + 1


class Weighed(torch.nn.Module):
    """A loss with a parameter."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, outputs, targets):
        return self.scale.sum() * (outputs - targets).square().mean()


def torchs(values):
    return torch.from_numpy(values)


class Signatures(Case):
    def same_weights(self, ours, module, **tolerance):
        for name, value in module.state_dict().items():
            self.same(ours.state_dict()[name].numpy(), value.numpy(), **(tolerance or dict(rtol=1e-9, atol=1e-11)))

    def in_torch(self, module, optimizer, loss, steps=4):
        """Runs steps of a module on all rows."""
        for _ in range(steps):
            def closure():
                optimizer.zero_grad()
                value = loss(module)
                value.backward()
                return value
            optimizer.step(closure)
        return module

    def test_tuples_row_weights_and_inputs(self):
        noise = RANDOM.normal(size=(22, 2))
        for cut in (lambda values: ht.array(values, split=0), lambda values: uneven(values, 0)):
            data = ht.nn.Dataset({"x": cut(ROWS), "noise": cut(noise)}, {"x": cut(ROWS), "weight": cut(WEIGHTS)})
            ours = ht.nn.ScriptModule(Vae())
            trainer = ht.nn.Trainer(ours, vae_loss, optimizer="sgd", learning_rate=0.02, epochs=4, metrics={"loss": vae_loss}, **OPTIONS)
            trainer.fit(data)
            inputs = [torchs(ROWS), torchs(noise)]
            loss = lambda module: vae_loss(module(*inputs), {"weight": torchs(WEIGHTS)}, inputs)  # noqa: E731
            module = Vae()
            self.in_torch(module, torch.optim.SGD(module.parameters(), lr=0.02), loss)
            self.same_weights(ours, module)
            found = trainer.evaluate(data)
            self.assertAlmostEqual(found.loss, loss(module).item(), places=9)
            self.assertAlmostEqual(found.metrics["loss"], found.loss, places=12)
            recon, mu, logvar = trainer.predict({"x": cut(ROWS), "noise": cut(noise)})
            self.same(recon, module(*inputs)[0].detach().numpy(), rtol=1e-9, atol=1e-11)
            self.same(logvar, module(*inputs)[2].detach().numpy(), rtol=1e-9, atol=1e-11)

    def test_dicts_of_heads(self):
        x = ht.array(ROWS, split=0)
        targets = {"p": ht.array(VALUES, split=0), "m": ht.array(VALUES + 1, split=0)}
        ours = ht.nn.ScriptModule(Heads())
        trainer = ht.nn.Trainer(ours, heads_loss, optimizer="sgd", learning_rate=0.1, epochs=4, **OPTIONS)
        trainer.fit(ht.nn.Dataset({"x": x}, targets))
        module = Heads()
        wanted = {"p": torchs(VALUES), "m": torchs(VALUES + 1)}
        self.in_torch(module, torch.optim.SGD(module.parameters(), lr=0.1), lambda module: heads_loss(module(torchs(ROWS)), wanted))
        self.same_weights(ours, module)
        outputs = trainer.predict(x)
        self.assertEqual(list(outputs), ["p", "m"])
        self.same(outputs["m"], module(torchs(ROWS))["m"].detach().numpy(), rtol=1e-9, atol=1e-11)
        other = ht.nn.Dataset({"x": x}, {"m": targets["m"], "p": targets["p"]})
        with self.assertRaisesRegex(ValueError, "got targets .* to train and .* to validate"):
            trainer.fit(ht.nn.Dataset({"x": x}, targets), other)
        with self.assertRaisesRegex(ValueError, "got 2 outputs for the parameter outputs, one tensor"):
            ht.nn.Trainer(ours, mean_of_absolutes, **OPTIONS).evaluate(ht.nn.Dataset({"x": x}, {"p": targets["p"]}))

    def test_optimizers_have_torchs_defaults(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        loss = lambda module: torch.nn.functional.mse_loss(module(torchs(ROWS)), torchs(VALUES))  # noqa: E731
        optim = torch.optim
        cases = [("sgd", {}, optim.SGD, {}), ("adam", {}, optim.Adam, {}), ("adamw", {}, optim.AdamW, {}), ("rmsprop", {}, optim.RMSprop, {}),
                 ("adagrad", {}, optim.Adagrad, {}), ("adamw", dict(optimizer_options={"betas": (0.5, 0.9), "amsgrad": True}), optim.AdamW, dict(betas=(0.5, 0.9), amsgrad=True)),
                 ("sgd", dict(momentum=0.9, learning_rate=0.1, optimizer_options={"nesterov": True}), optim.SGD, dict(momentum=0.9, lr=0.1, nesterov=True)),
                 ("lbfgs", dict(optimizer_options={"line_search_fn": "strong_wolfe", "max_iter": 5}), optim.LBFGS, dict(line_search_fn="strong_wolfe", max_iter=5))]
        for name, options, kind, of_torch in cases:
            ours, module = ht.nn.ScriptModule(linear()), linear()
            ht.nn.Trainer(ours, "mse", optimizer=name, epochs=4, **options, **OPTIONS).fit(x, y)
            self.in_torch(module, kind(module.parameters(), **of_torch), loss)
            self.same_weights(ours, module, rtol=1e-6, atol=1e-6 if name == "lbfgs" else 1e-9)
        for name in ("lars", "lamb", "muon"):
            trainer = ht.nn.Trainer(ht.nn.ScriptModule(linear()), "mse", optimizer=name, epochs=4, **OPTIONS)
            before = trainer.evaluate(x, y).loss
            trainer.fit(x, y)
            self.assertLess(trainer.evaluate(x, y).loss, before)
        # torch's Muon iterates in bfloat16, and takes matrices only.
        module = torch.nn.Linear(3, 2, bias=False).double()
        ours, start = ht.nn.ScriptModule(module), module.weight.detach().clone()
        ht.nn.Trainer(ours, "mse", optimizer="muon", learning_rate=0.1, optimizer_options={"match_rms": False}, epochs=4, **OPTIONS).fit(x, y)
        self.in_torch(module, optim.Muon(module.parameters(), lr=0.1), loss)
        moved = np.asarray(ours.state_dict()["weight"]) - start.numpy()
        self.same(moved, (module.weight.detach() - start).numpy(), rtol=0, atol=0.02 * np.abs(moved).max())
        ours = ht.nn.ScriptModule(linear())
        for wrong, text in ((dict(optimizer="adam", optimizer_options={"momentum": 0.9}), "momentum for adam; expected one of its options amsgrad, betas"),
                            (dict(optimizer="adam", optimizer_options={"betas": (0.9, 1.0)}), "betas=.*expected two numbers"),
                            (dict(optimizer="lbfgs", optimizer_options={"max_iter": 2.5}), "max_iter=.*expected a whole number"),
                            (dict(optimizer="lbfgs", groups=[{"params": "0.*"}]), "got 2 groups for lbfgs"),
                            (dict(optimizer_options={"amsgrad": 3}), "amsgrad=.*expected True or False")):
            with self.assertRaisesRegex(ValueError, text):
                ht.nn.Trainer(ours, "mse", **wrong)

    def test_groups_of_parameters(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        ours, module = ht.nn.ScriptModule(linear()), linear()
        ht.nn.Trainer(ours, "mse", optimizer="adamw", learning_rate=0.05, weight_decay=0.5, epochs=4,
                      groups=[{"params": ["*.bias"], "weight_decay": 0.0}, {"params": "2.*", "lr": 0.01}], **OPTIONS).fit(x, y)
        groups = [{"params": [module[0].weight]}, {"params": [module[0].bias, module[2].bias], "weight_decay": 0.0}, {"params": [module[2].weight], "lr": 0.01}]
        self.in_torch(module, torch.optim.AdamW(groups, lr=0.05, weight_decay=0.5), lambda module: torch.nn.functional.mse_loss(module(torchs(ROWS)), torchs(VALUES)))
        self.same_weights(ours, module)
        ours, module = ht.nn.ScriptModule(Mixed()), Mixed()
        ht.nn.Trainer(ours, "mse", learning_rate=0.05, epochs=4, groups=[{"params": ["a", "c"], "weight_decay": 0.1}], **OPTIONS).fit(x, y)
        self.in_torch(module, torch.optim.Adam([{"params": [module.b]}, {"params": [module.a, module.c], "weight_decay": 0.1}], lr=0.05),
                      lambda module: torch.nn.functional.mse_loss(module(torchs(ROWS)), torchs(VALUES)))
        self.same_weights(ours, module)
        ours, module = ht.nn.ScriptModule(linear()), linear()  # `rate` is that of the largest group; the other keeps its share of it
        ht.nn.Trainer(ours, "mse", optimizer="sgd", learning_rate=0.1, rate=lambda batch, total: 0.3, epochs=4, groups=[{"params": "*.bias", "lr": 0.001}], **OPTIONS).fit(x, y)
        groups = [{"params": [module[0].weight, module[2].weight]}, {"params": [module[0].bias, module[2].bias], "lr": 0.003}]
        self.in_torch(module, torch.optim.SGD(groups, lr=0.3), lambda module: torch.nn.functional.mse_loss(module(torchs(ROWS)), torchs(VALUES)))
        self.same_weights(ours, module)
        with self.assertRaisesRegex(ValueError, 'got the group "3.weight"'):
            ht.nn.Trainer(ours, "mse", groups=[{"params": ["3.weight"]}])
        with self.assertRaisesRegex(TypeError, "got a group of tensors"):
            ht.nn.Trainer(ours, "mse", groups=[{"params": module.parameters()}])

    def test_losses_that_are_scripted(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        for loss in (torch.nn.SmoothL1Loss(), torch.nn.MSELoss(), mean_of_absolutes):
            ours, module = ht.nn.ScriptModule(linear()), linear()
            ht.nn.Trainer(ours, loss, optimizer="sgd", learning_rate=0.1, epochs=4, **OPTIONS).fit(x, y)
            self.in_torch(module, torch.optim.SGD(module.parameters(), lr=0.1), lambda module: loss(module(torchs(ROWS)), torchs(VALUES)))
            self.same_weights(ours, module)
        ours = ht.nn.ScriptModule(linear())
        for loss, error, text in ((lambda a, b: (a - b).mean(), TypeError, "got a lambda, .*expected a function made by def"),
                                  (lambda_free(), ValueError, "got a module that cannot be scripted and written"),
                                  (Weighed(), ValueError, "with the parameter scale, which would not be trained"),
                                  (torch.nn.MSELoss(reduction="none"), ValueError, 'expected "mean" or "sum"'), (torch.nn.MarginRankingLoss(reduction="sum"), ValueError, 'expected reduction="mean"'),
                                  (torch.nn.MarginRankingLoss(), ValueError, r"got a loss of \(input1, input2, target\)"), (3, TypeError, "got the loss or metric 3")):
            with self.assertRaisesRegex(error, text):
                ht.nn.Trainer(ours, loss, progress=False)

    def test_losses_of_torch_weigh_rows_by_themselves(self):
        x = ht.array(ROWS, split=0)
        classes = np.where(ROWS[:, 0] > 0.5, 1, 0)
        classes[:9] = 3  # does not count: on three ranks, one rank has no target that counts
        losses = [torch.nn.CrossEntropyLoss(torch.tensor([1.0, 20.0, 1.0, 1.0], dtype=torch.float64), ignore_index=3), torch.nn.CrossEntropyLoss(ignore_index=3, reduction="sum"),
                  torch.nn.CrossEntropyLoss(label_smoothing=0.1), torch.nn.CrossEntropyLoss()]
        for loss in losses:
            torch.manual_seed(5)
            module = torch.nn.Linear(3, 4).double()
            ours = ht.nn.ScriptModule(module)
            ht.nn.Trainer(ours, loss, optimizer="sgd", learning_rate=0.01, epochs=4, **OPTIONS).fit(x, ht.array(classes, split=0))
            self.in_torch(module, torch.optim.SGD(module.parameters(), lr=0.01), lambda module: loss(module(torchs(ROWS)), torchs(classes)))
            self.same_weights(ours, module, rtol=1e-6, atol=1e-8)

    def test_transforms_and_split(self):
        x, y = ht.array(ROWS, split=0), ht.array(VALUES, split=0)
        parts = ht.nn.train_validation_split(ht.nn.Dataset(x, y), validation=0.5, seed=3)
        self.assertEqual((len(parts.training), len(parts.validation)), (11, 11))
        ours, module = ht.nn.ScriptModule(linear()), linear()
        changes = [noisier, ht.nn.normalise(0.5, np.array([1.0, 2.0, 4.0])), ht.nn.normalise(0, 2)]
        trainer = ht.nn.Trainer(ours, "mse", optimizer="sgd", learning_rate=0.1, epochs=4, transforms=changes, evaluation_transforms=changes, **OPTIONS)
        trainer.fit(x, y)
        loss = lambda module: torch.nn.functional.mse_loss(module((torchs(2 * ROWS) - 0.5) / torch.tensor([2.0, 4.0, 8.0])), torchs(VALUES) + 1)  # noqa: E731
        self.in_torch(module, torch.optim.SGD(module.parameters(), lr=0.1), loss)
        self.same_weights(ours, module)
        self.assertAlmostEqual(trainer.evaluate(x, y).loss, loss(module).item(), places=9)
        pictures = np.arange(22 * 4.0).reshape(22, 1, 2, 2)
        flips = ht.nn.Trainer(ht.nn.ScriptModule(torch.nn.Identity()), "mse", evaluation_transforms=[ht.nn.random_flip(probability=1, targets="stay")], progress=False)
        self.assertAlmostEqual(flips.evaluate(ht.array(pictures, split=0), ht.array(pictures[..., ::-1].copy(), split=0)).loss, 0)

    def test_derivatives_inside_forward(self):
        x = np.linspace(-1, 1, 22)[:, None]
        points, slopes = ht.array(x, split=0), ht.array(4 * x, split=0)
        ours = ht.nn.ScriptModule(Slope())
        trainer = ht.nn.Trainer(ours, slope_loss, optimizer="sgd", learning_rate=0.1, epochs=20, metrics={"slope": slope_loss}, **OPTIONS)
        before = trainer.evaluate(points, slopes)
        self.assertAlmostEqual(before.loss, np.mean((2 * x) ** 2), places=12)
        self.assertAlmostEqual(before.metrics["slope"], before.loss, places=12)
        self.same(trainer.predict(points)[1], 6 * x, rtol=1e-12)
        trainer.fit((points, slopes), (points, slopes))
        self.assertAlmostEqual(ours.state_dict()["w"].item(), 2 + (1 - 0.8 * np.mean(x**2)) ** 20, places=12)

    def test_loops_of_ones_own(self):
        rows = np.array_split(np.arange(22), RANKS + 1)[1:]  # no rank has the first part
        mine, everybody = rows[RANK], np.concatenate(rows)

        def trained(generator, discriminator, step_of, chosen):
            g_step, d_step = (torch.optim.Adam(module.parameters(), lr=0.05) for module in (generator, discriminator))
            x, y = torchs(ROWS[chosen]), torchs(VALUES[chosen])
            for _ in range(4):
                fake = generator(x)
                d_step.zero_grad()
                (discriminator(y) - 1).square().mean().backward()
                discriminator(fake.detach()).square().mean().backward()
                step_of(discriminator, d_step)
                g_step.zero_grad()
                (discriminator(fake) - 1).square().mean().backward()
                step_of(generator, g_step)

        def layers():
            torch.manual_seed(RANK)  # those of rank 0 are used
            return torch.nn.Linear(3, 2).double(), torch.nn.Linear(2, 1).double()

        models = {}
        ours = [ht.nn.DataParallel(module) for module in layers()]
        for model in ours:
            models[model.module] = model
        trained(*(model.module for model in ours), lambda module, optimizer: models[module].step(optimizer, rows=len(mine)), mine)
        torch.manual_seed(0)
        alone = torch.nn.Linear(3, 2).double(), torch.nn.Linear(2, 1).double()
        trained(*alone, lambda module, optimizer: optimizer.step(), everybody)
        for model, module in zip(ours, alone):
            for name, value in module.state_dict().items():
                self.same(model.module.state_dict()[name].numpy(), value.numpy(), rtol=1e-9, atol=1e-11)

    def test_gradients_of_some_ranks(self):
        module = torch.nn.ModuleDict({"used": torch.nn.Linear(2, 1), "never": torch.nn.Linear(2, 1)})
        module["complex"] = torch.nn.ParameterList([torch.zeros(2, dtype=torch.complex64)])
        model = ht.nn.DataParallel(module)
        if RANK == RANKS - 1:  # the others have no rows
            (module["used"](torch.ones(3, 2)).sum() + (1j * module["complex"][0]).sum().real).backward()
        model.average_gradients(rows=3 if RANK == RANKS - 1 else 0)
        self.same(module["used"].weight.grad.numpy(), np.full((1, 2), 3.0, np.float32))
        self.same(module["complex"][0].grad.numpy(), np.full(2, -1j, np.complex64))
        self.assertIsNone(module["never"].weight.grad)
        module["used"].weight.grad.fill_(float("nan") if RANK == 0 else 1)
        with self.assertRaisesRegex(ValueError, "NaN or infinity on some rank"):
            model.average_gradients()


    def test_buffers_are_those_of_all_rows(self):
        class Counted(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = self.same = torch.nn.BatchNorm1d(3, momentum=None).double()
                self.register_buffer("mask", torch.tensor([1.0, float("inf")]))
                self.register_buffer("rank", torch.tensor([RANK + 7]))
                self.register_buffer("own", torch.tensor([float(RANK)]))

            def forward(self, x):
                return self.norm(x)

        edges = [3 + 4 * rank for rank in range(RANKS)] + [22]  # the last rank has more rows
        parts = [ROWS[first:end] for first, end in zip(edges, edges[1:])]
        model = ht.nn.DataParallel(Counted())
        optimizer = torch.optim.SGD(model.module.parameters(), lr=0.0)
        for _ in range(2):
            optimizer.zero_grad()
            model(torchs(parts[RANK])).square().mean().backward()
            model.step(optimizer, rows=len(parts[RANK]))
        model.module.own.fill_(RANK)
        model.average_buffers()
        mean, norm = ROWS[3:].mean(0), model.module.norm
        self.same(norm.running_mean.numpy(), mean, rtol=1e-12)
        self.assertEqual((norm.num_batches_tracked.item(), model.module.rank.item()), (2, 7))
        self.same(model.module.own.numpy(), np.array([(RANKS - 1) / 2], np.float32), rtol=1e-6)
        self.same(model.module.mask.numpy(), np.array([1.0, np.inf], np.float32))
        # The mean of the ranks' variances, plus the squared distances of their means.
        spread = sum(len(part) * (part.var(0, ddof=1) + (part.mean(0) - mean) ** 2) for part in parts) / 19
        self.same(norm.running_var.numpy(), spread, rtol=1e-12)
        before = norm.running_mean.clone()
        model.average_buffers()  # without rows since then all have equal weight
        self.same(norm.running_mean.numpy(), before.numpy(), rtol=1e-15)

    def test_lbfgs_takes_stored_rows_and_refuses_parts_of_them(self):
        import h5py

        folder = MPI.COMM_WORLD.bcast(tempfile.mkdtemp() if RANK == 0 else None)
        file = pathlib.Path(folder) / "rows.h5"
        if RANK == 0:
            with h5py.File(file, "w") as stored:
                stored["x"], stored["y"] = ROWS, VALUES
        MPI.COMM_WORLD.Barrier()
        stored = ht.nn.Dataset.from_hdf5(file, inputs="x", targets="y")
        ours, module = ht.nn.ScriptModule(linear()), linear()
        options = dict(optimizer="lbfgs", optimizer_options={"line_search_fn": "strong_wolfe", "max_iter": 5}, progress=False)
        ht.nn.Trainer(ours, "mse", epochs=3, batch_size=22, **options).fit(stored)
        lbfgs = torch.optim.LBFGS(module.parameters(), line_search_fn="strong_wolfe", max_iter=5)
        self.in_torch(module, lbfgs, lambda module: torch.nn.functional.mse_loss(module(torchs(ROWS)), torchs(VALUES)), steps=3)
        self.same_weights(ours, module, rtol=1e-6, atol=1e-6)
        for wrong, text in ((dict(batch_size=8), r"got LBFGS with \d+ batches of 8 rows in an epoch; expected batch_size to be all rows"),
                            (dict(batch_size=22, folder=folder), "got LBFGS with the folder .*save_safetensors keeps the weights"),
                            (dict(batch_size=22, autocast="float16"), "got LBFGS with autocast in float16")):
            with self.assertRaisesRegex(ValueError, text):
                ht.nn.Trainer(ours, "mse", **wrong, **options).fit(stored)
        MPI.COMM_WORLD.Barrier()
        if RANK == 0:
            shutil.rmtree(folder)


def lambda_free():
    def unscriptable(outputs, targets):
        return np.mean(outputs)
    return unscriptable
