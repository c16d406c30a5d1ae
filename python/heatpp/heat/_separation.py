"""HeAT's scores of clusters."""

import functools

from .. import _heatpp as C
from . import types
from ._arrays import DNDarray, sanitize_in


def _labelled(X, labels, metric):
    """Returns labels as a vector of heatpp, split as the rows."""
    sanitize_in(X)
    sanitize_in(labels)
    if metric not in ("euclidean", "precomputed"):
        raise NotImplementedError(f"[silhouette_samples] got metric {metric!r}; expected euclidean or precomputed")
    if labels.size != X.shape[0]:
        raise ValueError(f"[silhouette_samples] got {labels.size} labels of shape {labels.shape} for {X.shape[0]} rows; expected one for each")
    if metric == "precomputed":
        _check_distances(X)
    return C.reshape(labels._x, (-1,))


def _check_distances(X):
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise ValueError(f"[silhouette_samples] got distances of shape {X.shape}; expected a square matrix")
    most = C.max(C.abs(C.diag(X._x))).item() if X.size else 0
    if most > 100 * C.finfo(types.ours_of(X.dtype)).eps:
        raise ValueError(f"[silhouette_samples] got a distance of {most} of a row to itself; expected 0")


_AT_ONCE = 1024  # rows whose distances to all rows are in memory at a time


def _sums_by_cluster(X, member, metric):
    """Returns the sum of distances of each row to the rows of each cluster."""
    if metric == "precomputed":
        return C.matmul(X._x.astype(C.float64), member)
    rows = X._x.astype(C.float64)
    pieces = ((C.resplit(rows[i:i + _AT_ONCE], None), member[i:i + _AT_ONCE]) for i in range(0, X.shape[0], _AT_ONCE))
    return functools.reduce(C.add, (C.matmul(C.spatial.cdist(rows, others), part) for others, part in pieces))


def _coefficients(sums, groups, sizes):
    """Returns the coefficients from the sums of distances by cluster, the cluster of each row, and the sizes of clusters."""
    own = C.take(sizes, groups)
    member = C.eq(C.expand_dims(groups, 1), C.expand_dims(C.arange(0, sizes.size, comm=sizes.comm), 0))
    inner = C.divide(C.sum(C.where(member, sums, 0.0), 1), C.maximum(C.subtract(own, 1.0), 1.0))
    outer = C.min(C.where(member, float("inf"), C.divide(sums, sizes)), 1)
    most = C.maximum(inner, outer)
    return C.where(C.logical_and(C.greater(own, 1), C.greater(most, 0)), C.divide(C.subtract(outer, inner), most), 0.0)


def silhouette_samples(X, labels, *, metric="euclidean"):
    """Returns the silhouette coefficient of each row, (b - a) / max(a, b) with the mean distances a to the other rows of its cluster and b to those of the
    nearest other one, as float64. It is 0 if all rows are in one cluster or each in its own. X has rows, or with metric precomputed their distances.
    1024 rows at a time are gathered, and labels. Collective."""
    mine = _labelled(X, labels, metric)
    known = C.unique_all(mine)
    if known.values.size in (1, X.shape[0]):
        return DNDarray(C.zeros((X.shape[0],), dtype=C.float64, split=None if X.split is None else 0, comm=X._x.comm))
    groups, sizes = known.inverse_indices, C.resplit(known.counts, None).astype(C.float64)
    member = C.eq(C.expand_dims(C.resplit(groups, None), 1), C.expand_dims(C.arange(0, sizes.size, comm=X._x.comm), 0)).astype(C.float64)
    return DNDarray(_coefficients(_sums_by_cluster(X, member, metric), groups, sizes))


def silhouette_score(X, labels, *, metric="euclidean", sample_size=None, random_state=None):
    """Returns the mean silhouette coefficient of all rows, or of as many random ones."""
    if sample_size is None:
        return C.mean(silhouette_samples(X, labels, metric=metric)._x).item()
    mine = _labelled(X, labels, metric)
    if metric == "precomputed":
        raise NotImplementedError("[silhouette_score] got distances and sample_size; expected rows, or no sample_size")
    return C.silhouette_score(X._x, mine, sample_size=sample_size, **({} if random_state is None else {"seed": random_state}))
