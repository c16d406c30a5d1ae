#!/usr/bin/env python3
"""A network that is designed in Python, trained in C++ on many ranks, and applied in Python: it learns one step of diffusion from fields.

usage: network.py <command that runs script_training> ...      for example: network.py mpirun -n 4 script_training

Writes the network by torch.export and as TorchScript, and fields as HDF5. Runs the command on the folder with each of the two networks, and loads the
trained weights.
"""

import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import h5py
    import numpy as np
    import torch
    import filelock, networkx, sympy  # noqa: F401, E401: of torch.export
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"{missing}: not run")
    sys.exit(77)


class Step(torch.nn.Module):
    """A residual block: the change in one step."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.change = torch.nn.Sequential(
            torch.nn.Conv2d(1, width, 3, padding=1, padding_mode="circular"), torch.nn.BatchNorm2d(width), torch.nn.GELU(),
            torch.nn.Conv2d(width, 1, 3, padding=1, padding_mode="circular"))

    def forward(self, field):
        return field + self.change(field)


def fields(random, rows, size=16):
    """Returns smooth periodic fields, and these after a step of diffusion."""
    waves = np.fft.fftfreq(size) * size
    decay = np.exp(-0.05 * (waves[:, None] ** 2 + waves**2))
    spectrum = np.fft.fft2(random.standard_normal((rows, 1, size, size))) * decay**0.5
    now, later = np.fft.ifft2(spectrum).real, np.fft.ifft2(spectrum * decay).real
    return now.astype(np.float32), later.astype(np.float32)


def write(path, now, later):
    with h5py.File(path, "w") as file:
        file["inputs"], file["targets"] = now, later


def write_networks(folder, network, field):
    """Writes in training mode, which keeps most of the network. Any number of rows is allowed."""
    network.train()
    rows = torch.export.Dim("rows")
    torch.export.save(torch.export.export(network, (field,), dynamic_shapes=({0: rows},)), folder / "network.pt2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated
        torch.jit.script(network).save(folder / "network.pt")


def trained(name, folder):
    """Returns the network that C++ has written, with the trained weights."""
    if name.endswith(".pt"):
        return torch.jit.load(folder / "trained.pt").eval()
    network = Step()
    network.load_state_dict(torch.export.load(folder / "trained.pt2").state_dict)
    return network.eval()


def main(command):
    torch.manual_seed(1)
    random = np.random.default_rng(1)
    network = Step()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for shard in range(3):
            write(folder / f"training-{shard}.h5", *fields(random, 200))
        now, later = fields(random, 90)
        write(folder / "test.h5", now, later)
        now, later = torch.from_numpy(now), torch.from_numpy(later)
        write_networks(folder, network, now[:2])
        before = torch.nn.functional.mse_loss(network.eval()(now), later).item()
        for name in ("network.pt2", "network.pt"):
            subprocess.run([*command, folder, name], check=True)

            network.load_state_dict(load_file(folder / "trained.safetensors"))
            with torch.no_grad():
                outputs = network(now)
                assert torch.allclose(outputs, trained(name, folder)(now), atol=1e-6)
            with h5py.File(folder / "outputs.h5") as file:
                assert np.allclose(outputs.numpy(), file["outputs"][:], atol=1e-5)
            after = torch.nn.functional.mse_loss(outputs, later).item()
            print(f"{name}: mean squared error on fields that were not trained: {before:.4f} before, {after:.6f} after")
            assert after < 0.05 * before


if __name__ == "__main__":
    main(sys.argv[1:])
