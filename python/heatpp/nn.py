"""Training of networks of torch, exported or scripted, on all ranks: a Trainer, datasets, and DASO; and DataParallel for your own loops.
docs/python.md has examples."""

import os
import pathlib
import sys
import tempfile
import warnings
import zlib

from ._heatpp import _nn, default_comm, from_dlpack
from ._signatures import check_choices

Dataset, train_validation_split = _nn.Dataset, _nn.train_validation_split
normalise, random_flip, random_shift = _nn.normalise, _nn.random_flip, _nn.random_shift
__all__ = ["DataParallel", "Dataset", "ExportedModule", "ScriptModule", "Trainer", "normalise", "random_flip", "random_shift", "train_validation_split"]


class _Network(_nn.LoadedModule):
    def state_dict(self):
        """Returns copies of parameters and buffers by name, for load_state_dict of torch's module: tensors if torch is loaded, otherwise NumPy arrays."""
        return _in_torch(self._state())

    def _take(self, comm, device, ending, write, failed):
        """Writes a file on rank 0, which all ranks read. If writing fails, all ranks throw the error that `failed` makes of it."""
        with tempfile.TemporaryDirectory() as folder:
            path, failure = pathlib.Path(folder) / ("network" + ending), ""
            if (comm or default_comm()).rank == 0:
                try:
                    write(path)
                except Exception as error:  # all ranks throw it
                    failure = failed(f"{type(error).__name__}: {error}")
            _nn.LoadedModule.__init__(self, path, comm, device, failure)


class ExportedModule(_Network):
    """A network of torch on all ranks, through torch.export: a module with example `inputs`, a tensor or a tuple of them, whose first axes are
    rows and may vary unless `dynamic_shapes` says otherwise; an ExportedProgram; or the path of a file that torch.export.save has written. A
    module is exported in its current mode, training or evaluation, and can use both here: `net.train()` keeps most operations. Collective."""

    def __init__(self, module, inputs=None, *, dynamic_shapes=None, comm=None, device="cpu"):
        if isinstance(module, (str, os.PathLike)):
            super().__init__(module, comm, device)
            return
        import torch

        if isinstance(module, torch.nn.Module) and inputs is None:
            raise TypeError("[ExportedModule] got a module without inputs; expected examples of what it is called with, as torch.export takes them")
        if not isinstance(module, (torch.nn.Module, torch.export.ExportedProgram)):
            raise TypeError(f"[ExportedModule] got {type(module).__name__}; expected a module of torch with inputs, an ExportedProgram, or the path of a .pt2")
        inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        self._take(comm, device, ".pt2", lambda path: _export(torch, module, inputs, dynamic_shapes, path),
                   lambda error: f"[ExportedModule] got a module that cannot be exported and written ({error}); expected one that torch.export.export and torch.export.save take")


def _export(torch, module, inputs, dynamic_shapes, path):
    """Writes a module or an exported program."""
    if isinstance(module, torch.nn.Module):
        if dynamic_shapes is None:
            rows = torch.export.Dim("rows")
            dynamic_shapes = torch.utils._pytree.tree_map(lambda x: {0: rows} if isinstance(x, torch.Tensor) and x.dim() > 0 else None, inputs)
        module = torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes)
    torch.export.save(module, path)


class ScriptModule(_Network):
    """A network of torch on all ranks, through TorchScript, which torch replaces by torch.export (ExportedModule): a module, which is scripted,
    or the path of a file that torch.jit.save has written; also a function, for losses, metrics and transforms. Collective."""

    def __init__(self, module, comm=None, device="cpu"):
        if isinstance(module, (str, os.PathLike)):
            super().__init__(module, comm, device)
            return
        import torch

        if not callable(module) or isinstance(module, type):
            raise TypeError(f"[ScriptModule] got {type(module).__name__}; expected a module of torch or the path of a scripted one")
        if getattr(module, "__name__", "") == "<lambda>":
            raise TypeError("[ScriptModule] got a lambda, which torch.jit.script cannot read; expected a function made by def, a module of torch, or a name")
        self._take(comm, device, ".pt", lambda path: _write(torch, module, path),
                   lambda error: f"[ScriptModule] got a module that cannot be scripted and written ({error}); expected one that torch.jit.script and torch.jit.save take")


def _in_torch(state):
    """Returns tensors if torch is loaded, otherwise NumPy arrays."""
    torch = sys.modules.get("torch")
    return {name: torch.from_numpy(values) if torch else values for name, values in state.items()}


def _write(torch, module, path):
    """Scripts a module or a function and writes it, with the names of the buffers that state_dict leaves out."""
    parts = module.named_modules(remove_duplicate=False) if isinstance(module, torch.nn.Module) else ()
    names = [f"{part_name}.{name}" if part_name else name for part_name, part in parts for name in getattr(part, "_non_persistent_buffers_set", ())]
    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning):  # the caller has chosen to script
            warnings.simplefilter("ignore", category)
        torch.jit.save(torch.jit.script(module), str(path), _extra_files={"not_persistent": "\n".join(sorted(names))})


class Trainer(_nn.Trainer):
    """Trains a network on all ranks: by averaging gradients over them, or by DASO (daso="default", "automatic", "published") with shares of the
    training as `warmup` and `cooldown`, which are errors without `daso`. Collective. `daso_options`, also only with `daso`, is a dict of wire
    ("float32", "bfloat16", "int8", "int4", "float4"), partners ("all", "pairs"), fragments, patience (in seconds) and quorum, as in DasoOptions.

    `loss` and `metrics` (a list of names, or a dict) are cross_entropy, nll, mse, l1, huber, smooth_l1 and binary_cross_entropy (of logits), for
    metrics also accuracy, with `loss_options`, a dict of reduction ("mean", "sum"), ignore_index, class_weights, label_smoothing, delta and
    pos_weight. Or they are a module of torch or a function that torch.jit.script compiles, of (outputs, targets) or (outputs, targets, inputs),
    equal on all ranks. The first two parameters get outputs and targets under any names; a third one gets the network's inputs and must be called
    `inputs`. The function returns the mean over rows, or with `loss_returns_weight` (loss, weight), two scalars. If the network or the dataset has
    several outputs or fields, they come as the function's annotations say: List[Tensor], Tuple[Tensor, Tensor], Dict[str, Tensor].

    `optimizer` is sgd, adam, adamw, rmsprop, adagrad, lbfgs (with batches of all rows), lars, lamb or muon, with torch's defaults. `learning_rate`,
    `momentum` and `weight_decay` are its options, others are in `optimizer_options` under torch's names. `groups` are dicts as in torch:
    {"params": ["*.bias", "norm*"], "weight_decay": 0.0}, with names of parameters or patterns; parameters in no group have the common options.
    `shard` ("node", "all") are the ranks that share the optimizer's work and state (ZeRO-1), with `daso` those of a node; with `shard_weights`
    the ranks of a node also share weights and gradients (ZeRO-3), on the CPU.
    `rate(batch, total)` returns the learning rate. `transforms` (of training rows) and `evaluation_transforms` are normalise(...),
    random_flip(...), random_shift(...), or functions of (inputs, targets) that return both. `folder` gets checkpoints, the best weights and a
    log; `resume` continues from it. The training ends after `patience` epochs without a better validation loss."""

    def __init__(self, network, loss="cross_entropy", *, optimizer="adam", learning_rate=None, momentum=None, weight_decay=None,
                 optimizer_options=None, groups=(), metrics=(), loss_options=None, loss_returns_weight=False, daso_options=None, transforms=(), evaluation_transforms=(), **options):
        if not isinstance(network, _nn.LoadedModule):
            raise TypeError(f"[Trainer] got {type(network).__name__} as network; expected a heatpp.nn.ExportedModule or ScriptModule of it")
        comm = network.comm

        def read():
            check_choices("Trainer", _nn.Trainer.__init__, options)
            given = {"learning_rate": learning_rate, "momentum": momentum, "weight_decay": weight_decay, **(optimizer_options or {})}
            name, own = _named(loss)
            own = {option: float(value) if isinstance(value, int) else value for option, value in {**own, **(loss_options or {})}.items()} or None
            measures = metrics if isinstance(metrics, dict) else {metric: metric for metric in metrics}
            of_daso = {option: float(value) if isinstance(value, (int, float)) else value for option, value in (daso_options or {}).items()}
            return name, own, measures, _options(given), [_group(group) for group in groups], of_daso

        loss, of_loss, metrics, common, groups, of_daso = _all_or_none(comm, read)
        scripted = sum(not isinstance(transform, (_nn.Transform, _nn.LoadedModule)) for transform in (*transforms, *evaluation_transforms))
        _nn._check_agreed(comm, [("loss", _said(loss)), ("metrics", "{" + ", ".join(f"{name}: {_said(metric)}" for name, metric in metrics.items()) + "}"),
                                 ("functions as transforms", str(scripted))])
        super().__init__(network, _measure(loss, comm), loss_options=of_loss, loss_returns_weight=loss_returns_weight, metrics={name: _measure(metric, comm) for name, metric in metrics.items()}, optimizer=optimizer,
                         optimizer_options=common, groups=groups, daso_options=of_daso,
                         transforms=[_transform(transform, comm) for transform in transforms],
                         evaluation_transforms=[_transform(transform, comm) for transform in evaluation_transforms], **options)

    def raw_state_dict(self):
        """Returns the network's state_dict with the raw weights, which `fit` has replaced by the running mean (`ema`)."""
        return _in_torch(self._raw_state())

    def predict(self, x):
        """Returns the network's outputs for rows, split as these. Several inputs are given by name, as to fit; several outputs are a list, or
        a dict if the network returns one."""
        names, outputs = self._predict(x)
        if names:
            return dict(zip(names, outputs))
        return outputs[0] if len(outputs) == 1 else outputs


def _all_or_none(comm, work):
    """Returns the result of `work`. If it throws on any rank, all ranks throw. Collective."""
    result = own = None
    try:
        result = work()
    except Exception as error:  # all ranks throw it
        own = error
    try:
        _nn._check_agreed(comm, [], (str(own) or type(own).__name__) if own else "")
    except ValueError:
        if own:
            raise own from None
        raise
    return result


def _said(measure):
    """Returns a text of a loss or metric that all ranks must share: a name, or that of a function with a checksum of its code and attributes."""
    if isinstance(measure, str):
        return f'"{measure}"'
    if isinstance(measure, _nn.LoadedModule):
        return f"{type(measure).__name__} of checksum {measure._checksum:016x}"
    if not callable(measure):
        return type(measure).__name__
    forward = getattr(measure, "forward", measure)
    code = getattr(measure, "code", None) or getattr(getattr(forward, "__func__", forward), "__code__", None)  # a scripted one has text
    attributes = sorted((name, value) for name, value in getattr(measure, "__dict__", {}).items() if isinstance(value, (bool, int, float, str)) and not name.startswith("_"))
    checksum = zlib.crc32(repr((_code(code), attributes)).encode())
    return f"{getattr(measure, '__qualname__', type(measure).__qualname__)} of checksum {checksum:08x}"


def _code(code):
    """Returns what code consists of, without places in memory."""
    if isinstance(code, frozenset):
        return sorted(map(repr, code))
    if not hasattr(code, "co_code"):
        return repr(code)
    return code.co_name, code.co_code, code.co_names, [_code(part) for part in code.co_consts]


# Losses of torch.nn that have a name here, and their attributes by the names of loss_options.
_NAMED = {"CrossEntropyLoss": ("cross_entropy", {"weight": "class_weights", "ignore_index": "ignore_index", "label_smoothing": "label_smoothing"}),
          "NLLLoss": ("nll", {"weight": "class_weights", "ignore_index": "ignore_index"}), "MSELoss": ("mse", {}), "L1Loss": ("l1", {}),
          "HuberLoss": ("huber", {"delta": "delta"}), "SmoothL1Loss": ("smooth_l1", {"beta": "delta"}),
          "BCEWithLogitsLoss": ("binary_cross_entropy", {"pos_weight": "pos_weight"})}


def _named(loss):
    """Returns the name of a loss of torch.nn here, with its options; other losses are returned unchanged."""
    torch = sys.modules.get("torch")
    kind = type(loss).__name__
    if torch is None or kind not in _NAMED or type(loss) is not getattr(torch.nn, kind) or (kind == "BCEWithLogitsLoss" and loss.weight is not None):
        return loss, {}
    name, attributes = _NAMED[kind]
    if loss.reduction not in ("mean", "sum"):
        raise ValueError(f'[Trainer] got {kind}(reduction="{loss.reduction}"); expected "mean" or "sum"')
    found = {ours: getattr(loss, attribute) for attribute, ours in attributes.items()}
    if loss.reduction == "sum":
        found["reduction"] = "sum"
    return name, {ours: value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value for ours, value in found.items()
                  if value is not None and (ours, value) not in (("ignore_index", -100), ("label_smoothing", 0.0))}


def _options(given):
    """Returns an optimizer's options under torch's names."""
    found = {"lr" if name == "learning_rate" else name: value for name, value in given.items() if value is not None}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def _group(group):
    if not isinstance(group, dict) or "params" not in group:
        raise TypeError(f'[Trainer] got the group {group!r}; expected a dict such as {{"params": ["*.bias"], "weight_decay": 0.0}}')
    names = group["params"]
    names = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("[Trainer] got a group of tensors; expected the names of parameters, or patterns, as the network is a copy")
    return names, _options({name: value for name, value in group.items() if name != "params"})


def _measure(measure, comm):
    """Returns a loss or a metric: a name, or a scripted function."""
    if isinstance(measure, (str, _nn.LoadedModule)):
        return measure
    if not callable(measure):
        raise TypeError(f"[Trainer] got the loss or metric {measure!r}; expected a name, a module of torch, or a function that torch.jit.script compiles")
    return ScriptModule(_mean(measure), comm)


def _mean(measure):
    """Throws for torch's losses with a sum, whose weight would depend on the number of ranks."""
    reduction = getattr(measure, "reduction", "mean")
    if reduction not in ("mean", "batchmean"):
        raise ValueError(f'[Trainer] got {type(measure).__name__}(reduction="{reduction}"); expected reduction="mean"')
    return measure


def _transform(transform, comm):
    return transform if isinstance(transform, (_nn.Transform, _nn.LoadedModule)) else ScriptModule(transform, comm)


class DataParallel:
    """A module of torch that all ranks train in your own loop. Only `step` averages gradients, so several networks and optimizers, and several
    backward passes per step, are written as in one process. Weights and buffers become those of rank 0. After that each rank has its own buffers,
    e.g. BatchNorm's statistics, until `average_buffers`: call it before evaluating and saving. Collective.

        model = ht.nn.DataParallel(torch.nn.Linear(3, 1))
        optimizer = torch.optim.Adam(model.module.parameters())
        optimizer.zero_grad()
        loss(model(x), y).backward()
        model.step(optimizer, rows=len(x))"""

    def __init__(self, module, comm=None):
        self.module, self.comm, self._rows = module, comm or default_comm(), 0
        for tensor in [*module.parameters(), *module.buffers()]:
            self._take_from_rank_0(tensor.detach())

    def __call__(self, *inputs, **options):
        return self.module(*inputs, **options)

    def average_gradients(self, rows=1):
        """Makes every gradient the mean over all ranks, weighted by the `rows` of each mean loss; a rank without rows passes 0. A parameter
        without a gradient on a rank counts as zeros there, and keeps none if no rank has one. Raises a ValueError on all ranks for gradients
        that are not finite. Collective."""
        import torch

        self._rows += rows
        trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        told = torch.tensor([rows, *(parameter.grad is not None for parameter in trained)], dtype=torch.float64)
        self._add_up(told)
        used = [parameter for parameter, ranks in zip(trained, told[1:].tolist()) if ranks > 0]
        for parameter in used:
            if parameter.grad is None or rows == 0:
                parameter.grad = torch.zeros_like(parameter)
        for alike in _by_kind(used):
            self._average(torch, [parameter.grad for parameter in alike], rows / max(told[0].item(), 1e-300))

    def step(self, optimizer, rows=1):
        """Averages the gradients over all ranks and steps the optimizer. Collective."""
        self.average_gradients(rows)
        optimizer.step()

    def average_buffers(self):
        """Makes the buffers of all ranks equal. `running_mean` and `running_var`, as in BatchNorm, become mean and variance of all ranks'
        rows: the weight of each rank is the number of rows that it trained since the last call. Other floating-point buffers are averaged;
        integers become those of rank 0. Collective."""
        import torch

        rows, self._rows = self._rows, 0
        of_all = torch.tensor([float(rows)], dtype=torch.float64)
        self._add_up(of_all)
        equal = 1 / self.comm.size
        share = rows / of_all.item() if of_all.item() > 0 else equal
        done = set()
        with torch.no_grad():
            for part in self.module.modules():
                own = {name: buffer for name, buffer in part.named_buffers(recurse=False) if id(buffer) not in done}
                done.update(map(id, own.values()))
                mean, variance = own.pop("running_mean", None), own.pop("running_var", None)
                if mean is not None:
                    before = mean.clone()
                    self._mean(mean, share)
                    if variance is not None and variance.shape == mean.shape:
                        variance += (before - mean).square()
                if variance is not None:
                    self._mean(variance, share)
                for buffer in own.values():
                    if buffer.is_floating_point() or buffer.is_complex():
                        self._mean(buffer, equal)
                    else:
                        self._take_from_rank_0(buffer)

    def _mean(self, tensor, share):
        """Averages in place; infinite elements stay infinite if the rank has a share."""
        tensor.mul_(share) if share > 0 else tensor.zero_()
        self._add_up(tensor)

    def _average(self, torch, gradients, share):
        flat = torch.cat([gradient.detach().to_dense().reshape(-1) if gradient.is_sparse else gradient.detach().reshape(-1) for gradient in gradients]) * share
        self._add_up(flat)
        if not torch.isfinite(torch.view_as_real(flat) if flat.is_complex() else flat).all():
            raise ValueError("[DataParallel] got a gradient with NaN or infinity on some rank; expected finite gradients")
        first = 0
        for gradient in gradients:
            gradient.detach().copy_(flat[first:first + gradient.numel()].view_as(gradient))
            first += gradient.numel()

    def _add_up(self, tensor):
        """Sums over the ranks in place."""
        host = tensor.cpu().contiguous()
        real = host.view(-1) if not host.is_complex() else _torch().view_as_real(host).view(-1)
        if real.numel() > 0:
            _nn._add_up(from_dlpack(real, split=None, comm=self.comm))
        if host.data_ptr() != tensor.data_ptr():
            tensor.copy_(host)

    def _take_from_rank_0(self, tensor):
        bits = tensor.contiguous().cpu().reshape(-1).view(_torch().uint8)
        if self.comm.rank > 0:
            bits.zero_()
        self._add_up(bits)
        tensor.copy_(bits.view(tensor.dtype).view_as(tensor))


def _torch():
    import torch

    return torch


def _by_kind(parameters):
    """Returns lists of parameters of one dtype and device."""
    kinds = {}
    for parameter in parameters:
        kinds.setdefault((parameter.dtype, parameter.device), []).append(parameter)
    return kinds.values()
