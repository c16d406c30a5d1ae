"""PyTorch in one process, as many threads as heatpp has ranks: python torch_peer.py NAME"""
import os

import torch

import data
from turns import main, workload

torch.set_num_threads(int(os.environ.get("HEATPP_BENCH_RANKS", "2")))


def vector(stream, seed, extent):
    return torch.from_numpy(data.vector(stream, seed, 0, extent))


def check_sums(x):
    return data.check_sums(x.numpy())


def scalar(value):
    return [value]


@workload("chain")
def chain():
    a, b, c = (vector("uniform", seed, 20_000_000) for seed in (11, 12, 13))
    return lambda: (torch.sqrt(a * a + b * b) * c - a / (b * b + 1)).sum().item(), scalar


@workload("cumsum")
def cumsum():
    x = vector("normal", 76, 20_000_000)
    return lambda: x.cumsum(0), check_sums


@workload("randn")
def randn():
    return lambda: torch.randn(50_000_000), lambda x: [x.double().mean().item(), x.double().square().mean().item()]


@workload("conv1d")
def conv1d():
    x, taps = vector("normal", 71, 10_000_000), vector("uniform", 131, 65).flip(0)
    convolve = lambda: torch.nn.functional.conv1d(x[None, None], taps[None, None], padding=32)[0, 0]
    return convolve, check_sums


def transformed(transform, x):
    return lambda: transform(x), lambda y: data.check_complex(y.numpy())


workload("fft2")(lambda: transformed(torch.fft.fft2, torch.from_numpy(data.complex_rows(111, 4096, 4096))))
workload("fft1d")(lambda: transformed(torch.fft.fft, torch.from_numpy(data.complex_rows(113, 1 << 22))))


def distances(how):
    x = torch.from_numpy(data.rows("normal", 61, 0, 10_000, 18))
    return lambda: torch.cdist(x, x, compute_mode=how), check_sums


workload("cdist")(lambda: distances("donot_use_mm_for_euclid_dist"))
workload("cdist_qe")(lambda: distances("use_mm_for_euclid_dist"))


@workload("argmax")
def argmax():
    x = vector("normal", 76, 20_000_000)
    return lambda: x.argmax().item(), scalar


@workload("fancy")
def fancy():
    x, at = vector("normal", 71, 10_000_000), vector("position", 121, 1_000_000)
    return lambda: x[at], check_sums


@workload("sum")
def sum_of_all():
    x = vector("uniform", 11, 100_000_000)
    return lambda: x.sum().item(), scalar


@workload("dot")
def dot():
    x = vector("uniform", 11, 100_000_000)
    return lambda: torch.dot(x, x).item(), scalar


@workload("latency")
def latency():
    x = vector("uniform", 11, 100)

    def thousand_sums():
        for _ in range(1000):
            total = x.sum()
        return total.item()

    return thousand_sums, scalar


@workload("describe")
def describe():
    x = torch.from_numpy(data.moments_rows(0, 5_000_000)).double()
    return lambda: (x.mean(0), x.std(0, correction=0), x.amin(0), x.amax(0)), lambda result: data.check_values(*(y.numpy() for y in result))


@workload("moments")
def moments():
    x = torch.from_numpy(data.moments_rows(0, 10_000_000))

    def four():
        mean = x.mean(0)
        d = x - mean
        d2 = d * d
        var = d2.mean(0)
        return mean, var, (d2 * d).mean(0) / var**1.5, (d2 * d2).mean(0) / var**2 - 3

    return four, lambda result: data.check_values(*(y.numpy() for y in result))


@workload("sort")
def sort():
    x = vector("normal", 71, 10_000_000)
    return lambda: x.sort().values, check_sums


@workload("unique")
def unique():
    x = vector("integer", 72, 10_000_000)
    return lambda: x.unique(), check_sums


@workload("histogram")
def histogram():
    x = vector("normal", 71, 10_000_000)
    return lambda: x.histc(100, -4, 4), check_sums


@workload("bincount")
def bincount():
    x = vector("integer", 72, 10_000_000)
    return lambda: x.bincount(), check_sums


@workload("argsort")
def argsort():
    x = vector("normal", 71, 10_000_000)
    return lambda: x.argsort(stable=True), check_sums


@workload("searchsorted")
def searchsorted():
    a, v = torch.from_numpy(data.rising()), vector("uniform", 122, 10_000_000)
    return lambda: torch.searchsorted(a, v), check_sums


@workload("isin")
def isin():
    x, test = vector("integer", 72, 10_000_000), vector("integer", 123, 1_000)
    return lambda: torch.isin(x, test), check_sums


@workload("integers")
def integers():
    return lambda: torch.randint(1000, (20_000_000,)), lambda x: [x.double().mean().item(), x.double().var(correction=0).item()]


@workload("permutation")
def permutation():
    return lambda: torch.randperm(10_000_000), lambda x: [x.sum().item(), x.max().item(), (x - torch.arange(x.numel())).abs().double().mean().item()]


@workload("einsum")
def einsum():
    a, b = torch.from_numpy(data.stack(77)), torch.from_numpy(data.stack(78))
    return lambda: torch.einsum("bij,bjk->bik", a, b), lambda c: check_sums(c.reshape(-1, 128))


workload("rfft")(lambda: transformed(torch.fft.rfft, torch.from_numpy(data.rows("normal", 115, 0, 4096, 4096))))


@workload("median")
def median():
    x = vector("normal", 71, 10_000_000)
    return lambda: x.median().item(), scalar


@workload("resplit01")
def resplit01():
    x = torch.from_numpy(data.rows("normal", 64, 0, 8000, 8000))
    return lambda: (x[:, :4000].contiguous(), x[:, 4000:].contiguous()), lambda y: check_sums(torch.hstack(y))


@workload("matmul_00", "matmul_01", "matmul_10", "matmul_11", "matmul_0N", "matmul_N1")
def matmul():
    a, b = (torch.from_numpy(data.rows("normal", seed, 0, 3000, 3000)) for seed in (73, 74))
    return lambda: a @ b, check_sums


@workload("qr")
def qr():
    x = torch.from_numpy(data.rows("normal", 75, 0, 200_000, 128))
    return lambda: torch.linalg.qr(x), lambda parts: check_sums(parts.R.abs())


@workload("mask")
def mask():
    x = vector("normal", 71, 10_000_000)
    return lambda: x[x > 0], check_sums


@workload("mask_put")
def mask_put():
    x = vector("normal", 71, 10_000_000)

    def put():
        x[x > 0] = 0.5
        return x

    return put, check_sums


def csr(a):
    return torch.sparse_csr_tensor(*(torch.from_numpy(part) for part in (a.indptr, a.indices, a.data)), a.shape)


def product(a, *shape):
    import matrices

    a, x = csr(getattr(matrices, a[0])(*a[1:])), torch.from_numpy(matrices.numbers(*shape))
    return lambda: a @ x, check_sums


workload("spmv")(lambda: product(("laplacian", 200), 8_000_000))
workload("spmv_random")(lambda: product(("random_graph",), 1_000_000))
workload("spmm")(lambda: product(("random_graph",), 1_000_000, 32))


@workload("spgemm")
def spgemm():
    import matrices

    a = csr(matrices.laplacian(100))
    return lambda: a @ a, lambda c: check_sums(c.values())


if __name__ == "__main__":
    main()
