"""Computes benchmarks/expected.json, the right check values, in float64 with NumPy and SciPy alone, except trees: python reference.py [NAME ...]"""
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


def describe():
    x = data.moments_rows(0, 5_000_000).astype(f8)
    return np.concatenate([x.mean(0), x.std(0), x.min(0), x.max(0)])


def brick_statistics():
    x = data.rows("normal", 72, 0, 512 * 512, 512).astype(f8)
    counts = np.histogram(x, 64)[0]
    return [x.mean(), x.std(), counts @ np.arange(64) / x.size, x.max()]


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
    centers = x[:clusters].astype(f8)
    for _ in range(iterations):
        sums, counts = np.zeros_like(centers), np.zeros(clusters)
        for at in range(0, rows, 20_000):
            piece = x[at : at + 20_000].astype(f8)
            near = np.eye(clusters)[((centers**2).sum(1) - 2 * piece @ centers.T).argmin(1)]
            sums += near.T @ piece
            counts += near.sum(0)
        centers = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centers)
    return data.check_sums(centers)


def gmm(rows=1_000_000, columns=16, points=12, seed=81, components=8, iterations=20):
    x = data.blobs(0, rows, columns, points, seed)
    weights, means = np.full(components, 1 / components), x[:components].astype(f8)
    covariances = np.tile(np.eye(columns), (components, 1, 1))
    for _ in range(iterations):
        factors = np.linalg.inv(np.linalg.cholesky(covariances))
        heights = np.log(weights) + np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(1)
        counts, first, second = np.zeros(components), np.zeros_like(means), np.zeros_like(covariances)
        for at in range(0, rows, 20_000):
            piece = x[at : at + 20_000].astype(f8)
            logs = np.stack([heights[c] - (((piece - means[c]) @ factors[c].T) ** 2).sum(1) / 2 for c in range(components)], 1)
            shares = np.exp(logs - logs.max(1, keepdims=True))
            shares /= shares.sum(1, keepdims=True)
            counts += shares.sum(0)
            for c in range(components):
                apart = piece - means[c]
                first[c] += shares[:, c] @ apart
                second[c] += (apart * shares[:, c : c + 1]).T @ apart
        moved = first / counts[:, None]
        means = means + moved
        covariances = second / counts[:, None, None] - moved[:, :, None] * moved[:, None, :] + 1e-6 * np.eye(columns)
        weights = counts / counts.sum()
    return data.check_sums(means)


def pieces_of(make, rows, height=100_000):
    for at in range(0, rows, height):
        x, y = make(at, min(at + height, rows))
        yield x.astype(f8), y.astype(f8)


def lasso(sweeps, alpha=0.1):
    """Does coordinate descent on the products of all columns about their means."""
    n, products, sums = 1_000_000, 0, 0
    for x, y in pieces_of(data.lasso_rows, n):
        z = np.column_stack([x, y])
        products, sums = products + z.T @ z, sums + z.sum(0)
    mean = sums / n
    products = products / n - np.outer(mean, mean)
    coef = np.zeros(len(mean) - 1)
    for _ in range(sweeps):
        for j in range(len(coef)):
            left = products[j, -1] - products[j, :-1] @ coef + coef[j] * products[j, j]
            coef[j] = np.sign(left) * max(abs(left) - alpha, 0) / products[j, j]
    return data.check_sums(coef)


def logistic():
    """Does Newton's steps."""
    w = np.zeros(51)
    for _ in range(8):
        slope, curvature = np.append(w[:50], 0), np.diag(np.append(np.ones(50), 0))
        for x, y in pieces_of(data.logistic_rows, 1_000_000):
            x = np.column_stack([x, np.ones(len(x))])
            p = 1 / (1 + np.exp(-x @ w))
            slope, curvature = slope + x.T @ (p - y), curvature + (x.T * (p * (1 - p))) @ x
        w = w - np.linalg.solve(curvature, slope)
    return data.check_sums(w[:50])


def cdist():
    x = data.rows("normal", 61, 0, 10_000, 18).astype(f8)
    return sum(data.check_sums(np.sqrt(((x[at : at + 20, None] - x) ** 2).sum(2)), at) for at in range(0, len(x), 20))


def knn():
    x, asking = data.rows("normal", 62, 0, 50_000, 16).astype(f8), data.rows("normal", 63, 0, 2_000, 16).astype(f8)
    squares = np.stack([((row - x) ** 2).sum(1) for row in asking])
    near = np.argsort(squares, 1, kind="stable")[:, :5]
    return np.concatenate([data.check_sums(np.sqrt(np.take_along_axis(squares, near, 1))), data.check_sums(near)])


def dbscan():
    """Numbers clusters by their first core rows; a border row has the first number of its core neighbors."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    x = data.blobs(0, 200_000, 3, 50, 71).astype(f8)
    a, b = cKDTree(x).query_pairs(0.1, output_type="ndarray").T
    a, b = np.append(a, b), np.append(b, a)
    core = np.bincount(a, minlength=len(x)) + 1 >= 10
    both = core[a] & core[b]
    sets = connected_components(coo_array((np.ones(both.sum()), (a[both], b[both])), shape=(len(x), len(x))))[1]
    numbers = np.full(sets.max() + 1, len(x))
    of_cores, first = np.unique(sets[core], return_index=True)
    numbers[of_cores[np.argsort(first)]] = np.arange(len(of_cores))
    labels = np.where(core, numbers[sets], len(x))
    border = ~core[a] & core[b]
    np.minimum.at(labels, a[border], numbers[sets[b[border]]])
    return data.check_sums(np.where(labels < len(x), labels, -1))


def falling(centered):
    x = data.falling_rows(0, 100_000).astype(f8)
    return np.sqrt(np.linalg.eigvalsh((x - x.mean(0) * centered).T @ (x - x.mean(0) * centered))[::-1][:10])


def of_a_peer(name):
    """Results that a peer defines: scikit-learn's trees of random rows, and scipy's sparse matrices."""
    import learning  # noqa: F401: registers its workloads
    import matrices  # noqa: F401: likewise
    import turns

    train, check = turns._workloads[name]()
    return check(train())


# Results that are checked by sums are compared with a tolerance times the sum of |x|, others element by element.
sums = {
    ("resplit01", "resplit10"): (1e-9, lambda: data.check_sums(data.rows("normal", 64, 0, 8000, 8000))),
    ("from_blocks", "to_blocks"): (1e-9, lambda: data.check_sums(data.rows("normal", 72, 0, 512 * 512, 512))),
    ("mask",): (1e-9, lambda: data.check_sums(positives(ten_million()))),
    ("mask_put",): (1e-9, lambda: data.check_sums(np.where(ten_million() > 0, np.float32(0.5), ten_million()))),
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
    ("gmm",): (1e-3, gmm),
    ("cdist", "cdist_qe"): (1e-5, cdist),
    ("knn",): (1e-5, knn),
    ("dbscan",): (0, dbscan),
    ("lasso1",): (1e-3, lambda: lasso(1)),
    ("lasso10",): (1e-4, lambda: lasso(10)),
    ("logistic",): (1e-3, logistic),
    **{(name,): (1e-9, lambda name=name: of_a_peer(name)) for name in ("spmv", "spmv_random", "spmm", "spgemm")},
    ("cg",): (1e-6, lambda: of_a_peer("cg")),
    ("sparse_load", "sparse_save"): (1e-9, lambda: of_a_peer("sparse_load.npz")),
    ("histogram",): (1e-6, lambda: data.check_sums(np.histogram(ten_million().astype(f8), 100, (-4, 4))[0])),
    ("bincount",): (1e-9, lambda: data.check_sums(np.bincount(data.vector("integer", 72, 0, 10_000_000)))),
    ("argsort",): (1e-9, lambda: data.check_sums(np.argsort(ten_million(), kind="stable"))),
    ("searchsorted",): (1e-9, lambda: data.check_sums(np.searchsorted(data.rising(), data.vector("uniform", 122, 0, 10_000_000)))),
    ("isin",): (1e-9, lambda: data.check_sums(np.isin(*(data.vector("integer", seed, 0, n) for seed, n in ((72, 10_000_000), (123, 1_000)))))),
    ("einsum",): (1e-5, lambda: data.check_sums(np.matmul(*(data.stack(seed).astype(f8) for seed in (77, 78))).reshape(-1, 128))),
    ("rfft",): (1e-5, lambda: data.check_complex(np.fft.rfft(data.rows("normal", 115, 0, 4096, 4096).astype(f8)))),
    ("fft2",): (1e-5, lambda: data.check_complex(np.fft.fft2(data.complex_rows(111, 4096, 4096).astype(np.complex128)))),
    ("fft1d",): (1e-5, lambda: data.check_complex(np.fft.fft(data.complex_rows(113, 1 << 22).astype(np.complex128)))),
    ("hdf5_load0", "hdf5_load1"): (1e-9, lambda: of_file(91, 524_288)),
    ("hdf5_gzip0", "hdf5_gzip1"): (1e-9, lambda: of_file(92, 131_072)),
    ("hdf5_save", "zarr_load", "zarr_save", "netcdf_load", "netcdf_save"): (1e-9, lambda: of_file(91, 262_144)),
    ("csv_digits",): (1e-9, lambda: data.check_sums(data.rows("normal", 92, 0, 1_000_000, 10))),
    ("csv_decimals",): (1e-8, lambda: data.check_sums(np.round(data.rows("normal", 92, 0, 1_000_000, 10).astype(f8), 4))),
}
values = {
    ("chain",): (1e-4, chain),
    ("moments",): (1e-3, moments),
    ("describe",): (1e-9, describe),
    ("brick_statistics",): (1e-5, brick_statistics),
    ("median",): (1e-5, lambda: [np.median(ten_million().astype(f8))]),
    ("percentile25",): (1e-5, lambda: [np.percentile(ten_million().astype(f8), 25)]),
    ("argmax",): (0, lambda: [data.vector("normal", 76, 0, 20_000_000).argmax()]),
    ("randn",): (1e-3, lambda: [0.0, 1.0]),
    ("integers",): (1e-3, lambda: [999 / 2, (1000**2 - 1) / 12]),
    ("permutation",): (1e-3, lambda: [10_000_000 * 9_999_999 / 2, 9_999_999, 10_000_000 / 3]),
    ("dmd",): (1e-3, lambda: np.repeat([0.99, 0.95, 0.9], 2)),
    ("nmf",): (1e-3, lambda: of_a_peer("nmf")),
    ("boosting",): (1e-2, lambda: of_a_peer("boosting")),
    ("forest",): (2e-2, lambda: of_a_peer("forest")),
    ("sum",): (1e-5, lambda: [data.vector("uniform", 11, 0, 100_000_000).sum(dtype=f8)]),
    ("dot",): (1e-5, lambda: [np.square(data.vector("uniform", 11, 0, 100_000_000), dtype=f8).sum()]),
    ("pca",): (1e-4, lambda: falling(True)),
    ("hsvd",): (1e-3, lambda: falling(False)),
    ("latency",): (1e-5, lambda: [data.vector("uniform", 11, 0, 100).sum(dtype=f8)]),
    ("python_add",): (1e-6, lambda: [np.arange(1, 1001).sum(), 1, 1000]),
    ("python_sum",): (1e-6, lambda: [np.arange(1000).sum()]),
    ("python_slice",): (1e-6, lambda: np.arange(10, 20)),
}


# Values that may be 0 have at least this tolerance.
floors = {"randn": {"floor": 1}, "brick_statistics": {"floor": 1}}


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
