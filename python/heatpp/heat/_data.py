"""HeAT's test data and graphs."""

import torch

from .. import _heatpp as C
from . import _random, types
from ._arrays import DNDarray, array, sanitize_in
from ._factories import created
from ._ranks import sanitize_comm, sanitize_device, together


class Laplacian:
    """heatpp's Laplacian with HeAT's names for the kinds of graphs."""

    def __init__(self, similarity, weighted=True, definition="norm_sym", mode="fully_connected", threshold_key="upper", threshold_value=1.0, neighbors=10):
        if mode not in ("fully_connected", "eNeighbour"):
            raise NotImplementedError(f"[Laplacian] got mode {mode!r}; expected fully_connected or eNeighbour")
        if definition not in ("simple", "norm_sym", "norm_rw") or threshold_key not in ("upper", "lower"):
            raise ValueError(f"[Laplacian] got {definition!r} and {threshold_key!r}; expected simple, norm_sym or norm_rw and upper or lower")
        self._similarity = lambda x: similarity(x)._x
        self._options = {"weighted": weighted, "definition": definition, "mode": {"eNeighbour": "e_neighbour"}.get(mode, mode), "threshold_key": threshold_key,
                         "threshold_value": threshold_value}

    def construct(self, X):
        """Returns the Laplacian of the graph of these rows."""
        return DNDarray(C.graph.Laplacian(lambda _: self._similarity(X), **self._options).construct(X._x))


def create_spherical_dataset(num_samples_cluster, radius=1.0, offset=4.0, dtype=types.float32, random_state=1):
    """Returns four balls of points in space, with random numbers from the seed random_state."""
    _random.start(random_state)
    kind = types.float32 if types.heat_type_is_exact(dtype) else dtype
    found = C.datasets.create_spherical_dataset(num_samples_cluster, radius, offset, dtype=types.ours_of(kind), split=0)
    return DNDarray(found[0]).astype(dtype)


def _clusters(n_features, n_clusters, means, deviations, weights, normal, order):
    """Returns this rank's rows: each cluster's share of them in a random order, made of normal numbers."""
    weights = torch.full((n_clusters,), 1 / n_clusters) if weights is None else weights
    matrices = (n_clusters, n_features, n_features)
    for name, value, shapes in (("cluster_mean", means, (matrices[:2],)), ("cluster_std", deviations, (matrices, matrices[:1])), ("cluster_weight", weights, (matrices[:1],))):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"[create_clusters] got {name} of type {type(value).__name__}; expected a tensor")
        if tuple(value.shape) not in shapes:
            raise ValueError(f"[create_clusters] got {name} of shape {tuple(value.shape)}; expected {' or '.join(map(str, shapes))}")
    if not torch.isclose(weights.sum().double(), torch.tensor(1.0, dtype=torch.float64), rtol=1e-5):
        raise ValueError(f"[create_clusters] got cluster_weight of sum {weights.sum().item():g}; expected 1")
    covariances = torch.diag_embed(deviations[:, None].expand(-1, n_features)) if deviations.ndim == 1 else deviations
    counts = (weights * len(order)).long()
    counts[0] += len(order) - counts.sum()
    kinds = torch.repeat_interleave(counts)[torch.argsort(order)]
    factors = torch.linalg.cholesky(covariances.double())[kinds]
    return (means.double()[kinds] + (factors @ normal[:, :, None])[:, :, 0]).float()


def create_clusters(n_samples, n_features, n_clusters, cluster_mean, cluster_std, cluster_weight=None, device=None):
    """Returns samples of normal clusters, in rows that are split evenly. `cluster_std` has a matrix of covariances for each cluster, or a variance.
    On each rank, `cluster_weight` has the clusters' shares of its rows."""
    normal = created(C.random.standard_normal, (n_samples, n_features), dtype=types.float64, split=0)
    order = created(C.random.rand, (n_samples,), dtype=types.float64, split=0)
    rows = together(sanitize_comm(), _clusters, n_features, n_clusters, cluster_mean, cluster_std, cluster_weight, normal.larray, order.larray)
    return array(rows, dtype=types.float32, is_split=0, device=device)


def random_known_rank(m, n, r, quantile_function=None, split=None, device=None, comm=None, dtype=types.float32):
    """Returns a matrix of this rank, and its U, S and V."""
    options = {} if quantile_function is None else {"quantile_function": lambda x: quantile_function(DNDarray(x))._x}
    found = C.datasets.random_known_rank(m, n, r, dtype=types.ours_of(dtype), split=split, device=str(sanitize_device(device)), comm=sanitize_comm(comm).ours, **options)
    return DNDarray(found[0]), tuple(map(DNDarray, found[1:]))


def random_known_singularvalues(m, n, singular_values, split=None, device=None, comm=None, dtype=types.float32):
    """Returns a matrix with these singular values, and its U, S and V."""
    sanitize_in(singular_values)
    options = {"dtype": types.ours_of(dtype), "split": split, "device": str(sanitize_device(device)), "comm": sanitize_comm(comm).ours}
    found = C.datasets.random_known_singularvalues(m, n, singular_values._x, **options)
    return DNDarray(found[0]), tuple(map(DNDarray, found[1:]))
