"""A GAN on all ranks: two networks of torch, each with its own optimizer, are trained in turn until the generated points have the
distribution of the data: a mean of (2, -1) and a standard deviation of 1/2. Each rank draws its own rows.

usage: mpirun -n 2 python gan.py
"""

import torch
from torch.nn.functional import softplus

import heatpp as ht

CENTER = torch.tensor([2.0, -1.0])
ROWS = max(1, 128 // ht.world().size)  # on each rank


def penalty(scores, real):
    """Returns a penalty on slopes of the scores at the data, against oscillations (Mescheder et al. 2018)."""
    return 0.5 * torch.autograd.grad(scores.sum(), real, create_graph=True)[0].square().sum(1).mean()


def main():
    torch.manual_seed(1)
    generator = ht.nn.DataParallel(torch.nn.Linear(2, 2))
    discriminator = ht.nn.DataParallel(torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)))
    g_step, d_step = (torch.optim.Adam(model.module.parameters(), lr=0.01, betas=(0.0, 0.9)) for model in (generator, discriminator))

    torch.manual_seed(100 + ht.world().rank)
    for _ in range(600):
        real, fake = (0.5 * torch.randn(ROWS, 2) + CENTER).requires_grad_(), generator(torch.randn(ROWS, 2))
        d_step.zero_grad()
        scores = discriminator(real)
        (softplus(-scores).mean() + penalty(scores, real)).backward()
        softplus(discriminator(fake.detach())).mean().backward()
        discriminator.step(d_step)
        g_step.zero_grad()
        softplus(-discriminator(fake)).mean().backward()
        generator.step(g_step)

    with torch.no_grad():
        made = generator(torch.randn(4000, 2))
    of_mean, of_spread = (made.mean(0) - CENTER).abs().max().item(), (made.std(0) - 0.5).abs().max().item()
    if ht.world().rank == 0:
        print(f"the mean is {of_mean:.2f} off, the deviation {of_spread:.2f}")
    assert of_mean < 0.15 and of_spread < 0.2


if __name__ == "__main__":
    main()
