"""Training of networks that torch has scripted, on all ranks: a Trainer, datasets, and DASO. docs/python.md has an example."""

import os
import pathlib
import sys
import tempfile
import warnings

from ._heatpp import _nn, default_comm

Dataset, Trainer = _nn.Dataset, _nn.Trainer
__all__ = ["Dataset", "ScriptModule", "Trainer"]


class ScriptModule(_nn.ScriptModule):
    """A network of torch on all ranks: a module, which is scripted, or the path of one that torch.jit.save has written. Collective."""

    def __init__(self, module, comm=None, device="cpu"):
        if isinstance(module, (str, os.PathLike)):
            super().__init__(module, comm, device)
            return
        import torch

        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"[ScriptModule] got {type(module).__name__}; expected a module of torch or the path of a scripted one")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # torch has no other format that C++ can train
            scripted = torch.jit.script(module)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "network.pt"
            if (comm or default_comm()).rank == 0:
                scripted.save(path)
            super().__init__(path, comm, device)

    def state_dict(self):
        """Copies of parameters and buffers by name, for load_state_dict of torch's module: tensors where torch is loaded, else NumPy arrays."""
        torch = sys.modules.get("torch")
        return {name: torch.from_numpy(values) if torch else values for name, values in self._state().items()}
