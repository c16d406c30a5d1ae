"""Writes networks of torch.export for tests, and what Python computes with them."""

import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    def __init__(self, dropout=0.3):
        super().__init__()
        self.first, self.dropout, self.last = nn.Linear(4, 8), nn.Dropout(dropout), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(self.dropout(torch.relu(self.first(x))))


class Cnn(nn.Module):
    """Batch normalisation, a buffer that is not persistent, and a constant."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")
        self.norm, self.moving, self.last = nn.BatchNorm2d(4), nn.BatchNorm2d(4, momentum=0.3, affine=False), nn.Conv2d(4, 1, 3, padding=1)
        self.alone = nn.BatchNorm2d(4, track_running_stats=False)
        self.register_buffer("scale", torch.tensor(2.0), persistent=False)

    def forward(self, x):
        y = self.alone(self.moving(F.gelu(self.norm(self.first(x)))))
        return self.last(y * torch.tensor([1.0, 2.0, 3.0, 4.0]).view(4, 1, 1)) * self.scale


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(3, 5, num_layers=2, dropout=0.2, batch_first=True), nn.Linear(5, 1)

    def forward(self, x):
        y, (h, _) = self.lstm(x)
        return {"prediction": self.head(y[:, -1]), "state": h}


class Transformer(nn.Module):
    """Embedding and head are one parameter."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(10, 8), nn.Linear(8, 10, bias=False)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True), 2)
        self.head.weight = self.embedding.weight

    def forward(self, x):
        return self.head(self.layers(self.embedding(x)))


class Fno(nn.Module):
    """A layer of a Fourier neural operator, whose weights are complex, for fields of any length."""

    def __init__(self):
        super().__init__()
        self.modes = nn.Parameter(torch.randn(2, 2, 4, dtype=torch.cfloat) * 0.1)
        self.local = nn.Conv1d(2, 2, 1)

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        kept = torch.zeros(x.shape[0], 2, x.shape[-1] // 2 + 1, dtype=torch.cfloat, device=x.device)
        kept[:, :, :4] = torch.einsum("bix,iox->box", spectrum[:, :, :4], self.modes)
        return torch.fft.irfft(kept, n=x.shape[-1]) + self.local(x)


class Several(nn.Module):
    """Inputs in a dict and outside of it, a number, and nested outputs."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, fields, z, scale=2.0, nothing=None):
        u, v = fields["u"], fields["v"]
        return self.linear(u) * scale + v.sum(-1, keepdim=True), {"mean": u.mean() + z.mean(), "heads": [v * 2, nothing]}


class Odd(nn.Module):
    """Regions without gradients, in 16 bits and under a condition, a separate buffer, and layers that resize."""

    def __init__(self):
        super().__init__()
        self.norm, self.convolution, self.instance = nn.GroupNorm(2, 4), nn.Conv2d(1, 4, 3, padding="same"), nn.InstanceNorm2d(4, track_running_stats=True)
        self.linear = nn.Linear(8, 8)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        y = self.instance(self.norm(self.convolution(x)))
        y = F.interpolate(F.max_pool2d(y, 2), scale_factor=2, mode="bilinear")
        with torch.no_grad():
            self.mean.mul_(0.9).add_(y.mean((0, 2, 3)), alpha=0.1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = self.linear(y)
        z = torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (z.float(),))
        first, second = torch.chunk(z, 2, 1)
        rows = torch.arange(x.shape[0])
        return first[rows, 0], torch.where(second > 0, second, 2).to(torch.float64) - self.mean.view(4, 1, 1)[:2]


class Counting(nn.Module):
    """A length that is even, and outputs that are numbers."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.5, 2.0]))

    def forward(self, x):
        return (x.reshape(x.shape[0], -1, 2) * self.scale).sum(-1), 2 * x.shape[0], 2.5


def all_networks():
    """Name, network, examples for the export, dynamic shapes, other examples to compute, options."""
    rows, length = torch.export.Dim("rows"), torch.export.Dim("length", min=8)
    first, even = {0: rows}, {0: rows, 1: 2 * torch.export.Dim("half", max=10)}
    image = lambda n: (torch.randn(n, 1, 6, 6),)
    found = [("mlp", Mlp(), (torch.randn(3, 4),), (first,), (torch.randn(5, 4),), {}),
             ("mlp_evaluated", Mlp(), (torch.randn(3, 4),), (first,), (torch.randn(5, 4),), {"train": False}),
             ("mlp_decomposed", Mlp(0.0), (torch.randn(3, 4),), (first,), (torch.randn(5, 4),), {"decomposed": True, "stepped": True}),
             ("mlp_double", Mlp(0.0).double(), (torch.randn(3, 4).double(),), (first,), (torch.randn(12, 4).double(),), {"stepped": True}),
             ("cnn", Cnn(), image(3), (first,), image(5), {}), ("cnn_strict", Cnn(), image(3), (first,), image(5), {"strict": True}),
             ("cnn_evaluated", Cnn(), image(3), (first,), image(5), {"train": False}),
             ("cnn_decomposed", Cnn(), image(3), (first,), image(5), {"decomposed": True}),
             ("lstm", Lstm(), (torch.randn(3, 7, 3),), (first,), (torch.randn(4, 7, 3),), {}),
             ("transformer", Transformer(), (torch.randint(0, 10, (3, 6)),), (first,), (torch.randint(0, 10, (5, 6)),), {}),
             ("fno", Fno(), (torch.randn(3, 2, 16),), ({0: rows, 2: length},), (torch.randn(12, 2, 20),), {"stepped": True}),
             ("several", Several(), ({"u": torch.randn(3, 3), "v": torch.randn(3, 5)}, torch.randn(3), 3.0), ({"u": first, "v": first}, first, None),
              ({"u": torch.randn(5, 3), "v": torch.randn(5, 5)}, torch.randn(5), 3.0), {}),
             ("counting", Counting(), (torch.randn(3, 8),), (even,), (torch.randn(4, 14),), {}),
             ("odd", Odd(), (torch.randn(3, 1, 8, 8),), ({0: torch.export.Dim.DYNAMIC},), (torch.randn(4, 1, 8, 8),), {})]
    return found
