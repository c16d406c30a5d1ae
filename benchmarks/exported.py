#!/usr/bin/env python3
"""Times a training step of networks of torch.export beside the same networks as TorchScript, in turns.

usage: exported.py [--rounds N] <command that runs heatpp_exported> ...      for example: exported.py mpirun -n 2 heatpp_exported
"""

import argparse
import pathlib
import subprocess
import tempfile
import warnings

import torch
from torch import nn


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(100, 64), nn.Linear(64, 100)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True), 2)

    def forward(self, x):
        return self.head(self.layers(self.embedding(x)))


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


NETWORKS = {"small_mlp": (nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)), torch.randn(32, 16)),
            "mlp": (nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), torch.randn(128, 256)),
            "cnn": (nn.Sequential(block(1, 16), block(16, 16), nn.MaxPool2d(2), block(16, 32), nn.Flatten(), nn.Linear(32 * 14 * 14, 10)), torch.randn(32, 1, 28, 28)),
            "transformer": (Transformer(), torch.randint(0, 100, (16, 32)))}


class Holder(nn.Module):
    def __init__(self, x):
        super().__init__()
        self.register_buffer("x", x)


def write(folder, name, net, x):
    net.train()
    torch.export.save(torch.export.export(net, (x,), dynamic_shapes=({0: torch.export.Dim("rows")},)), folder / f"{name}.pt2")
    torch.jit.save(torch.jit.script(net), folder / f"{name}.pt")
    torch.jit.save(torch.jit.script(Holder(x)), folder / f"{name}.input.pt")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, (net, x) in NETWORKS.items():
            write(folder, name, net, x)
        subprocess.run([*options.command, place, str(options.rounds), *NETWORKS], check=True)


if __name__ == "__main__":
    main()
