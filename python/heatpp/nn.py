"""Training of networks that torch has scripted, on all ranks: a Trainer, datasets, and DASO. docs/python.md has an example."""

import os
import pathlib
import sys
import tempfile
import warnings

from ._heatpp import _nn, default_comm

Dataset = _nn.Dataset
__all__ = ["Dataset", "ScriptModule", "Trainer"]


def _in_torch(state):
    """Tensors where torch is loaded, else NumPy arrays."""
    torch = sys.modules.get("torch")
    return {name: torch.from_numpy(values) if torch else values for name, values in state.items()}


def _write(module, path):
    """Scripts a module and writes it, with the names of the buffers that state_dict leaves out."""
    import torch

    names = [f"{part_name}.{name}" if part_name else name for part_name, part in module.named_modules(remove_duplicate=False)
             for name in getattr(part, "_non_persistent_buffers_set", ())]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch has no other format that C++ can train
        torch.jit.save(torch.jit.script(module), path, _extra_files={"not_persistent": "\n".join(sorted(names))})


class Trainer(_nn.Trainer):
    __doc__ = _nn.Trainer.__doc__

    def raw_state_dict(self):
        """The weights that the running mean (`ema`) stands in the place of since `fit`, as ScriptModule.state_dict gives them."""
        return _in_torch(self._raw_state())


class ScriptModule(_nn.ScriptModule):
    """A network of torch on all ranks: a module, which is scripted, or the path of one that torch.jit.save has written. Collective."""

    def __init__(self, module, comm=None, device="cpu"):
        if isinstance(module, (str, os.PathLike)):
            super().__init__(module, comm, device)
            return
        import torch

        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"[ScriptModule] got {type(module).__name__}; expected a module of torch or the path of a scripted one")
        with tempfile.TemporaryDirectory() as folder:
            path, failure = pathlib.Path(folder) / "network.pt", ""
            if (comm or default_comm()).rank == 0:
                try:
                    _write(module, path)
                except Exception as error:  # which all ranks throw
                    failure = f"{type(error).__name__}: {error}"
            super().__init__(path, comm, device, failure)

    def state_dict(self):
        """Copies of parameters and buffers by name, for load_state_dict of torch's module: tensors where torch is loaded, else NumPy arrays."""
        return _in_torch(self._state())
