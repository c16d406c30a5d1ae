"""The benchmarks' data and check values, bit for bit as in benchmarks/data.hpp and check.hpp."""
import numpy as np

PIECE = 1 << 20
U64 = np.uint64


def hashes(seed, first, count):
    """Returns elements first .. first + count of the random stream `seed` (splitmix64)."""
    z = np.arange(first, first + count, dtype=U64)
    z += U64((seed << 40) + 1)
    z *= U64(0x9E3779B97F4A7C15)
    z ^= z >> U64(30)
    z *= U64(0xBF58476D1CE4E5B9)
    z ^= z >> U64(27)
    z *= U64(0x94D049BB133111EB)
    z ^= z >> U64(31)
    return z


def _uniform(h):
    return (h >> U64(40)).astype(np.float32) * np.float32(2.0**-24)


def _normal(h):
    low = U64(0xFFFF)
    total = (h & low) + ((h >> U64(16)) & low) + ((h >> U64(32)) & low) + (h >> U64(48))
    return (total.astype(np.int64) - 131070).astype(np.float32) * np.float32(1.7320508075688772 / 65536)


def _byte(h):
    return (h >> U64(56)).astype(np.float32)


def _integer(h):
    return (h % U64(10_000)).astype(np.int32)


def _position(h):
    return (h % U64(10_000_000)).astype(np.int64)


_streams = {"uniform": _uniform, "normal": _normal, "byte": _byte, "integer": _integer, "position": _position}
_dtypes = {"integer": np.int32, "position": np.int64}


def vector(stream, seed, first, last):
    """Returns elements first .. last of a stream, float32; of "integer" int32, of "position" int64."""
    out = np.empty(last - first, _dtypes.get(stream, np.float32))
    for at in range(0, len(out), PIECE):
        piece = out[at : at + PIECE]
        piece[:] = _streams[stream](hashes(seed, first + at, len(piece)))
    return out


def rows(stream, seed, first, last, columns):
    """Returns rows first .. last of a matrix that is filled from the stream in C order."""
    return vector(stream, seed, first * columns, last * columns).reshape(last - first, columns)


def columns(stream, seed, height, width, first, last):
    """Returns columns first .. last of that matrix."""
    out = np.empty((height, last - first), np.float32)
    step = max(1, PIECE // width)
    for at in range(0, height, step):
        out[at : at + step] = rows(stream, seed, at, min(height, at + step), width)[:, first:last]
    return out


def moments_rows(first, last):
    x = rows("uniform", 21, first, last, 8)
    x *= x
    x += np.arange(8, dtype=np.float32)
    return x


def blobs(first, last, columns, centers, seed):
    """Returns rows first .. last of `columns` normal numbers around one of `centers` points."""
    x = rows("normal", seed, first, last, columns)
    points = rows("normal", seed + 1, 0, centers, columns) * np.float32(0.5)
    for at in range(first, last, PIECE):
        to = min(last, at + PIECE)
        x[at - first : to - first] += points[(hashes(seed + 2, at, to - at) % U64(centers)).astype(np.int64)]
    return x


def share(extent, ranks, rank):
    """Returns the first and last index of a rank's block: the first extent % ranks ranks have one more."""
    each, more = divmod(extent, ranks)
    first = rank * each + min(rank, more)
    return first, first + each + (rank < more)


def _weights(first, last):
    index = np.arange(first + 1, last + 1, dtype=U64)
    return ((index * U64(2654435761)) & U64(0xFFFFFFFF)).astype(np.float64) * 2.0**-32


def check_sums(block, row=0, column=0):
    """Returns the sums of x, |x| and x weighted by position, for a block whose first element is at (row, column)."""
    block = np.atleast_1d(np.asarray(block))
    if block.ndim == 1:
        block, across = block[:, None], np.ones(1)
    else:
        across = _weights(column, column + block.shape[1])
    sums = np.zeros(3)
    step = max(1, PIECE // max(1, block.shape[1]))
    for at in range(0, len(block), step):
        x = block[at : at + step].astype(np.float64)
        sums += x.sum(), np.abs(x).sum(), _weights(row + at, row + at + len(x)) @ (x @ across)
    return sums


def rising():
    """Returns a million numbers from 0 to 1."""
    return np.arange(1_000_000, dtype=np.float32) * np.float32(1e-6)


def stack(seed):
    """Returns 512 matrices of 128 x 128."""
    return rows("normal", seed, 0, 512 * 128, 128).reshape(512, 128, 128)


def complex_rows(seed, *shape):
    count = int(np.prod(shape))
    return (vector("normal", seed, 0, count) + 1j * vector("normal", seed + 1, 0, count)).astype(np.complex64).reshape(shape)


def check_complex(x):
    return np.concatenate([check_sums(x.real), check_sums(x.imag)])


def check_values(*arrays):
    return np.concatenate([np.asarray(a, np.float64).ravel() for a in arrays])


def margins(x, noise, seed, first):
    """Returns x coef + noise, float64, for rows `first` .. of a linear model with coefficients 0, 1, 0, -0.5 in turn."""
    y = np.empty(len(x))
    coef = np.resize([0, 1, 0, -0.5], x.shape[1])
    for at in range(0, len(x), 1 << 15):
        y[at : at + (1 << 15)] = x[at : at + (1 << 15)].astype(np.float64) @ coef
    return y + noise * vector("normal", seed, first, first + len(x)).astype(np.float64)


def lasso_rows(first, last):
    x = rows("normal", 51, first, last, 64)
    return x, (margins(x, 0.1, 52, first) + 0.5).astype(np.float32)


def logistic_rows(first, last):
    x = rows("normal", 53, first, last, 50)
    return x, (margins(x, 2, 54, first) > 0).astype(np.int64)


def falling_rows(first, last):
    """Returns 64 directions of 256, each 0.7 times the size of the one before, and noise."""
    right = rows("normal", 82, 0, 64, 256).astype(np.float64) * (0.7 ** np.arange(64))[:, None]
    out = np.empty((last - first, 256), np.float32)
    for at in range(first, last, 1 << 14):
        to = min(last, at + (1 << 14))
        out[at - first : to - first] = rows("normal", 81, at, to, 64).astype(np.float64) @ right
    return out + rows("normal", 83, first, last, 256) * np.float32(1e-3)


def wave_rows(first, last):
    """Returns 32 snapshots of three waves that fade, of points first .. last."""
    t = np.arange(32.0)
    out = 0
    for k, (size, angle) in enumerate([(0.99, 0.3), (0.95, 0.7), (0.9, 1.9)]):
        parts = [vector("normal", seed + 2 * k, first, last).astype(np.float64)[:, None] for seed in (84, 85)]
        out = out + size**t * (parts[0] * np.cos(angle * t) + parts[1] * np.sin(angle * t))
    return out.astype(np.float32)


def event_rows(first, last):
    """Returns 28 numbers a row, and its class of two that no plane separates."""
    x = rows("normal", 55, first, last, 28)
    a = x[:, :6].astype(np.float64).T
    z = a[0] * a[2] + a[1] - a[3] / 2 + a[5] * a[5] / 2 - 0.5
    return x, (z + 1.5 * vector("normal", 56, first, last).astype(np.float64) > 0).astype(np.int64)


def judged(y, second):
    """Returns the log loss and the accuracy of probabilities of the second class."""
    return [-np.log(np.where(y > 0, second, 1 - second)).mean(), ((second > 0.5) == y).mean()]
