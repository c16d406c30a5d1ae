"""A physics-informed network for u_t = 0.1 u_xx between walls at 0, from u(x, 0) = sin(pi x). LBFGS trains it on all ranks on points where the
equation must hold, and it is compared with the exact solution.

usage: mpirun -n 2 python heat_equation.py
"""

import math
from typing import Tuple

import numpy as np
import torch

import heatpp as ht


class Heat(torch.nn.Module):
    """Returns u and the residual of the equation. The values at the walls and at the start are exact by construction."""

    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()

    def forward(self, rows):
        points = rows.detach().requires_grad_()
        x, t = points[:, :1], points[:, 1:]
        u = torch.sin(math.pi * x) + t * x * (1 - x) * self.net(points)
        slopes = torch.autograd.grad([u.sum()], [points], create_graph=True)[0]
        assert slopes is not None  # tells torch.jit.script that it is a tensor
        curved = torch.autograd.grad([slopes[:, :1].sum()], [points], create_graph=True)[0]
        assert curved is not None
        return u, slopes[:, 1:] - 0.1 * curved[:, :1]


def residual(outputs: Tuple[torch.Tensor, torch.Tensor], targets):
    return outputs[1].square().mean()


def squares(outputs: Tuple[torch.Tensor, torch.Tensor], targets):
    return (outputs[0] - targets).square().mean()


def points(count, seed):
    """Returns points of space and time, which do not depend on the number of ranks, and the exact solution there."""
    rows = np.random.default_rng(seed).random((count, 2))
    exact = np.sin(math.pi * rows[:, :1]) * np.exp(-0.1 * math.pi**2 * rows[:, 1:])
    return ht.array(rows, split=0), ht.array(exact, split=0)


def main():
    torch.manual_seed(1)
    trainer = ht.nn.Trainer(ht.nn.ScriptModule(Heat()), residual, metrics={"squares": squares}, optimizer="lbfgs",
                            optimizer_options={"line_search_fn": "strong_wolfe"}, epochs=10, batch_size=256, progress=False)
    found = trainer.fit(points(256, 1), points(200, 2)).epochs[-1].validation
    error = math.sqrt(found.metrics["squares"])
    if ht.world().rank == 0:
        print(f"residual {math.sqrt(found.loss):.1e}, L2 error {error:.1e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
