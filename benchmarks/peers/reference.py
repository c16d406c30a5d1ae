"""Recomputes benchmarks/expected.json, the right check values, in float64 with NumPy alone: python reference.py [NAME ...]"""
import json
import os
import sys

import numpy as np

import data

f8 = np.float64


def chain():
    a, b, c = (data.vector("uniform", seed, 0, 20_000_000).astype(f8) for seed in (11, 12, 13))
    return [(np.sqrt(a * a + b * b) * c - a / (b * b + 1)).sum()]


def moments():
    columns = []
    for column in data.moments_rows(0, 10_000_000).T:
        mean = column.mean(dtype=f8)
        d = column - mean
        var = (d**2).mean()
        columns.append((mean, var, (d**3).mean() / var**1.5, (d**4).mean() / var**2 - 3))
    return np.ravel(np.transpose(columns))


def of_file(seed, height, width=512):
    pieces = range(0, height, 16384)
    return sum(data.check_sums(data.rows("byte", seed, at, at + 16384, width), at) for at in pieces)


def positives(x):
    return x[x > 0]


def ten_million():
    return data.vector("normal", 71, 0, 10_000_000)


def conv1d():
    taps = data.vector("uniform", 131, 0, 65).astype(f8)
    return data.check_sums(np.convolve(ten_million().astype(f8), taps, "same"))


def kmeans(rows, columns, points, seed, clusters, iterations):
    x = data.blobs(0, rows, columns, points, seed)
    centres = x[:clusters].astype(f8)
    for _ in range(iterations):
        sums, counts = np.zeros_like(centres), np.zeros(clusters)
        for at in range(0, rows, 20_000):
            piece = x[at : at + 20_000].astype(f8)
            near = np.eye(clusters)[((centres**2).sum(1) - 2 * piece @ centres.T).argmin(1)]
            sums += near.T @ piece
            counts += near.sum(0)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return data.check_sums(centres)


# Workloads whose result is checked by sums are held to the tolerance times the sum of |x|, others element by element.
sums = {
    ("resplit01", "resplit10"): (1e-9, lambda: data.check_sums(data.rows("normal", 64, 0, 8000, 8000))),
    ("mask",): (1e-9, lambda: data.check_sums(positives(ten_million()))),
    ("fancy",): (1e-9, lambda: data.check_sums(ten_million()[data.vector("position", 121, 0, 1_000_000)])),
    ("matmul_00", "matmul_01", "matmul_10", "matmul_11", "matmul_0N", "matmul_N1"): (
        1e-5,
        lambda: data.check_sums(np.matmul(*(data.rows("normal", seed, 0, 3000, 3000).astype(f8) for seed in (73, 74)))),
    ),
    ("sort",): (1e-9, lambda: data.check_sums(np.sort(ten_million()))),
    ("unique",): (1e-9, lambda: data.check_sums(np.unique(data.vector("integer", 72, 0, 10_000_000)))),
    ("qr",): (
        1e-4,
        lambda: data.check_sums(np.abs(np.linalg.qr(data.rows("normal", 75, 0, 200_000, 128).astype(f8), "r"))),
    ),
    ("cumsum",): (1e-3, lambda: data.check_sums(np.cumsum(data.vector("normal", 76, 0, 20_000_000), dtype=f8))),
    ("conv1d",): (1e-4, conv1d),
    ("kmeans",): (1e-3, lambda: kmeans(1_000_000, 32, 12, 31, 8, 30)),
    ("kmeans256",): (1e-3, lambda: kmeans(200_000, 64, 200, 41, 256, 10)),
    ("hdf5_load0", "hdf5_load1"): (1e-9, lambda: of_file(91, 524_288)),
    ("hdf5_gzip0", "hdf5_gzip1"): (1e-9, lambda: of_file(92, 131_072)),
    ("hdf5_save",): (1e-9, lambda: of_file(91, 262_144)),
}
values = {
    ("chain",): (1e-4, chain),
    ("moments",): (1e-3, moments),
    ("median",): (1e-5, lambda: [np.median(ten_million().astype(f8))]),
    ("percentile25",): (1e-5, lambda: [np.percentile(ten_million().astype(f8), 25)]),
    ("argmax",): (0, lambda: [data.vector("normal", 76, 0, 20_000_000).argmax()]),
    ("randn",): (1e-3, lambda: [0.0, 1.0]),
    ("latency",): (1e-5, lambda: [data.vector("uniform", 11, 0, 100).sum(dtype=f8)]),
}


# Values are held to this at least, where they may be 0.
floors = {"randn": {"floor": 1}}


def entries(wanted):
    for kind, table in (("sums", sums), ("values", values)):
        for names, (tolerance, compute) in table.items():
            if wanted and not wanted & set(names):
                continue
            check = [float(v) for v in compute()]
            for name in names:
                yield name, {"kind": kind, "tolerance": tolerance, "check": check, **floors.get(name, {})}


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "expected.json")
    wanted = set(sys.argv[1:])
    expected = (json.load(open(path)) if wanted else {}) | dict(entries(wanted))
    with open(path, "w") as file:
        lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(expected.items()))
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
