"""A GAN on all ranks: two networks of torch with an optimizer each, trained in turn, until what the one makes of noise lies where the data
lie, around (2, -1). Each rank draws rows of its own.

usage: mpirun -n 2 python gan.py
"""

import torch
from torch.nn.functional import softplus

import heatpp as ht

CENTRE = torch.tensor([2.0, -1.0])
ROWS = max(1, 128 // ht.world().size)  # of each rank


def drawn(count):
    return 0.5 * torch.randn(count, 2) + CENTRE


def main():
    torch.manual_seed(1)
    generator = ht.nn.DataParallel(torch.nn.Linear(2, 2))
    discriminator = ht.nn.DataParallel(torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)))
    g_step = torch.optim.Adam(generator.module.parameters(), lr=0.01, betas=(0.0, 0.9))
    d_step = torch.optim.Adam(discriminator.module.parameters(), lr=0.03, betas=(0.0, 0.9), weight_decay=0.03)

    torch.manual_seed(100 + ht.world().rank)
    for _ in range(600):
        fake = generator(torch.randn(ROWS, 2))
        d_step.zero_grad()
        softplus(-discriminator(drawn(ROWS))).mean().backward()
        softplus(discriminator(fake.detach())).mean().backward()
        discriminator.step(d_step)
        g_step.zero_grad()
        softplus(-discriminator(fake)).mean().backward()
        generator.step(g_step)

    with torch.no_grad():
        made = generator(torch.randn(4000, 2))
    mean, spread = made.mean(0), made.std(0)
    if ht.world().rank == 0:
        print(f"mean {[round(x, 2) for x in mean.tolist()]}, standard deviation {[round(x, 2) for x in spread.tolist()]}")
    assert (mean - CENTRE).abs().max() < 0.25 and 0.1 < spread.min() and spread.max() < 1


if __name__ == "__main__":
    main()
