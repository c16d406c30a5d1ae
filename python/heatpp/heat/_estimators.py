"""HeAT's estimators: heatpp's by HeAT's names of parameters and results."""

from .. import _heatpp as C
from ._arrays import _inside, _outside


class BaseEstimator:
    """What HeAT's estimators are made of."""

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in self._defaults}

    def set_params(self, **given):
        for name, value in given.items():
            if name not in self._defaults:
                raise ValueError(f"[{type(self).__name__}] got a parameter {name!r}; expected one of {', '.join(self._defaults)}")
            setattr(self, name, value)
        return self

    def __repr__(self):
        return f"{type(self).__name__}({self.get_params()})"


class ClassificationMixin:
    pass


class ClusteringMixin:
    def fit_predict(self, x):
        return self.fit(x).predict(x)


class RegressionMixin:
    pass


class TransformMixin:
    def fit_transform(self, x):
        return self.fit(x).transform(x)


# HeAT's parameters with their defaults.
_CLUSTERS = dict(n_clusters=8, init="random", max_iter=300, tol=1e-4, random_state=None)
_BATCHES = {**_CLUSTERS, "init": "k-means++", "n_procs_to_merge": None}
_PCA = dict(n_components=None, copy=True, whiten=False, svd_solver="hierarchical", tol=None, iterated_power=0, n_oversamples=10, power_iteration_normalizer="qr",
            random_state=None)
_TABLE = {
    "cluster": (ClusteringMixin, {
        "KMeans": _CLUSTERS, "KMedians": _CLUSTERS, "KMedoids": {k: v for k, v in _CLUSTERS.items() if k != "tol"}, "BatchParallelKMeans": _BATCHES,
        "BatchParallelKMedians": {**_BATCHES, "init": "k-medians++"},
        "Spectral": dict(n_clusters=None, gamma=1.0, metric="rbf", laplacian="fully_connected", threshold=1.0, boundary="upper", eigen_solver="randomized",
                         reigh_rank=100, reigh_n_oversamples=10, reigh_power_iter=0, lanczos_n_iter=300, assign_labels="kmeans")}),
    "classification": (ClassificationMixin, {"KNeighborsClassifier": dict(n_neighbors=5, effective_metric_=None)}),
    "naive_bayes": (ClassificationMixin, {"GaussianNB": dict(priors=None, var_smoothing=1e-9)}),
    "regression": (RegressionMixin, {"Lasso": dict(lam=0.1, max_iter=100, tol=1e-6)}),
    "decomposition": (TransformMixin, {"PCA": _PCA, "IncrementalPCA": dict(n_components=None, copy=True, whiten=False, batch_size=None),
                                       "DMD": dict(svd_solver="full", svd_rank=None, svd_tol=None), "DMDc": dict(svd_solver="full", svd_rank=None, svd_tol=None)}),
    "preprocessing": (TransformMixin, {
        "StandardScaler": dict(copy=True, with_mean=True, with_std=True), "MinMaxScaler": dict(feature_range=(0.0, 1.0), copy=True, clip=False),
        "MaxAbsScaler": dict(copy=True), "Normalizer": dict(norm="l2", copy=True),
        "RobustScaler": dict(with_centering=True, with_scaling=True, quantile_range=(25.0, 75.0), copy=True, unit_variance=False, sketched=False, sketch_size=1.0)}),
}
# heatpp's names for them, and None for what it does without.
_OURS = {"max_iter": "max_iterations", "random_state": "seed", "lam": "alpha", "n_oversamples": "oversamples", "iterated_power": "power_iterations",
         "svd_rank": "rank", "svd_tol": "rtol", "lanczos_n_iter": "lanczos_iterations", "cluster_centers": "centers", "n_iter": "iterations",
         **dict.fromkeys("copy n_procs_to_merge svd_solver power_iteration_normalizer effective_metric_ eigen_solver reigh_rank reigh_n_oversamples "
                         "reigh_power_iter assign_labels sketched sketch_size feature_range".split())}
_INITS = {name: "plus_plus" for name in ("kmeans++", "k-means++", "k-medians++", "kmedians++", "kmedoids++", "probability_based", "batchparallel")}


def _options(estimator):
    given = estimator.get_params()
    named = {_OURS.get(name, name): _inside(value) for name, value in given.items() if _OURS.get(name, name) and value is not None}
    if isinstance(named.get("init"), str):
        named["init"] = _INITS.get(named["init"], named["init"])
    if "feature_range" in given:
        named["low"], named["high"] = given["feature_range"]
    if type(estimator).__name__ == "PCA":
        named["solver"] = given["svd_solver"]
    return named


def _method(name):
    def call(self, *given, **named):
        if name == "fit":
            self._made = getattr(C, type(self).__name__)(**_options(self))
        elif self._made is None:
            raise RuntimeError(f"[{type(self).__name__}] got {name} before fit; expected fit first")
        for without in ("oversampling", "iter_multiplier"):  # of initial centres, which heatpp chooses otherwise
            named.pop(without, None)
        found = getattr(self._made, name)(*map(_inside, given), **{key: _inside(value) for key, value in named.items()})
        return self if found is self._made or name.endswith("fit") else _outside(found)
    call.__name__ = name
    return call


def _estimator(name, mixin, defaults):
    def __init__(self, *given, **named):
        self._made = None
        for key, value in {**defaults, **dict(zip(defaults, given))}.items():
            setattr(self, key, value)
        self.set_params(**named)

    def __getattr__(self, key):
        """What was learnt, by HeAT's name, which ends in _."""
        if not key.endswith("_") or key.startswith("_") or self._made is None:
            raise AttributeError(f"{name} has no {key}")
        return _outside(getattr(self._made, _OURS.get(key[:-1], key[:-1])))

    known = getattr(C, name)
    methods = {each: _method(each) for each in "fit partial_fit predict predict_proba predict_log_proba transform inverse_transform score".split() if hasattr(known, each)}
    return type(name, (mixin, BaseEstimator), {"__doc__": known.__doc__, "_defaults": defaults, "__init__": __init__, "__getattr__": __getattr__, **methods})


parts = {part: {name: _estimator(name, mixin, defaults) for name, defaults in classes.items()} for part, (mixin, classes) in _TABLE.items()}


def _is(kind):
    return lambda estimator: isinstance(estimator, kind)


is_estimator, is_classifier, is_clusterer = _is(BaseEstimator), _is(ClassificationMixin), _is(ClusteringMixin)
is_regressor, is_transformer = _is(RegressionMixin), _is(TransformMixin)
__all__ = ["BaseEstimator", "ClassificationMixin", "ClusteringMixin", "RegressionMixin", "TransformMixin", "is_estimator", "is_classifier", "is_clusterer",
           "is_regressor", "is_transformer"]
