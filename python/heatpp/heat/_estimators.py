"""HeAT's estimators: heatpp's, with HeAT's names of parameters and results."""

import inspect

from .. import _heatpp as C
from . import _dynamics, types
from ._arrays import DNDarray, _inside, _outside, sanitize_in


class BaseEstimator:
    """The base of HeAT's estimators. Classes of a program have the parameters of their constructors."""

    @property
    def _defaults(self):
        parameters = list(inspect.signature(type(self).__init__).parameters.values())[1:]
        return {each.name: each.default for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)}

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in self._defaults}

    def set_params(self, **given):
        for name, value in given.items():
            if name not in self._defaults:
                raise ValueError(f"[{type(self).__name__}] got a parameter {name!r}; expected one of {', '.join(self._defaults)}")
            setattr(self, name, value)
        _check(self)
        return self

    def __repr__(self):
        return f"{type(self).__name__}({self.get_params()})"


class ClassificationMixin:
    def fit_predict(self, x, y):
        return self.fit(x, y).predict(x)


class ClusteringMixin:
    def fit_predict(self, x):
        return self.fit(x).labels_


class RegressionMixin:
    def fit_predict(self, x, y):
        return self.fit(x, y).predict(x)


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
# heatpp's names for them and for results of fit; None for hints on how to compute, which heatpp ignores.
_OURS = {"max_iter": "max_iterations", "random_state": "seed", "lam": "alpha", "n_oversamples": "oversamples", "iterated_power": "power_iterations",
         "lanczos_n_iter": "lanczos_iterations", "cluster_centers": "centers", "n_iter": "iterations", "n_samples_seen": "n_samples", "sigma": "var",
         "functional_value": "inertia", "rom_basis": "basis", "rom_transfer_matrix": "transfer", "rom_control_matrix": "control", "rom_eigenvalues": "eigenvalues",
         "rom_eigenmodes": "eigenvectors", "n_modes_system": "n_system_modes",
         **dict.fromkeys("copy n_procs_to_merge svd_solver svd_rank svd_tol power_iteration_normalizer effective_metric_ eigen_solver reigh_rank reigh_n_oversamples "
                         "reigh_power_iter assign_labels sketched sketch_size feature_range".split())}
_ONLY = {"effective_metric_": (None,), "assign_labels": ("kmeans",)}  # the values that are known
_INITS = {name: "plus_plus" for name in ("kmeans++", "k-means++", "k-medians++", "kmedians++", "kmedoids++", "probability_based", "batchparallel")}
_VALUES = {"eNeighbour": "e_neighbour"}
# Attributes that heatpp's models do not have, computed from theirs.
_DERIVED = {"inertia_": lambda model: C.array(model.inertia, dtype=C.float64), "RobustScaler.iqr_": lambda model: model.scale,
            **{f"{kind}Scaler.scale_": lambda model: C.reciprocal(model.scale) for kind in ("Standard", "MinMax", "MaxAbs", "Robust")},  # rows are multiplied by it
            "MinMaxScaler.data_range_": lambda model: C.subtract(model.data_max, model.data_min),
            "MinMaxScaler.min_": lambda model: C.subtract(model.get_params()["low"], C.divide(model.data_min, model.scale)),
            "total_explained_variance_ratio_": lambda model: float(C.sum(model.explained_variance_ratio).item()), "epsilon_": lambda model: C.array(model.epsilon), "batch_size_": lambda model: model.get_params()["batch_size"],
            "dmdmodes_": lambda model: C.matmul(model.basis.astype(model.eigenvectors.dtype), model.eigenvectors)}


# The types of parameters, and for each a test with the text of what it expects.
_CHECKS = {"svd_solver": (str, lambda value: value in ("full", "hierarchical", "randomized"), "full, hierarchical or randomized"),
           "svd_rank": (int, lambda value: value > 0, "a positive number"), "svd_tol": (float, lambda value: value > 0, "a positive number"),
           "iterated_power": (int, lambda value: value >= 0, "no negative number"), "n_oversamples": (int, lambda value: value >= 0, "no negative number"),
           "power_iteration_normalizer": (str, lambda value: value == "qr", "qr"), "eigen_solver": (str, lambda value: value in ("lanczos", "randomized"), "lanczos or randomized"),
           "feature_range": (tuple, lambda value: value[0] < value[1], "the lower end first"),
           "quantile_range": (tuple, lambda value: 0 <= value[0] < value[1] <= 100, "two percentages, the lower one first")}


def _check(estimator):
    """Throws for parameters without effect or out of range."""
    for name, (kind, test, expected) in _CHECKS.items():
        value = getattr(estimator, name) if name in estimator._defaults else None
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"[{type(estimator).__name__}] got {name}={value!r}; expected {kind.__name__}")
        if value is not None and not test(value):
            raise ValueError(f"[{type(estimator).__name__}] got {name}={value!r}; expected {expected}")
    if "svd_rank" in estimator._defaults:
        given = tuple(name for name in ("svd_rank", "svd_tol") if getattr(estimator, name) is not None)
        known = {"full": ((), ("svd_rank",), ("svd_tol",)), "hierarchical": (("svd_rank",), ("svd_tol",)), "randomized": (("svd_rank",),)}[estimator.svd_solver]
        if given not in known:
            raise ValueError(f"[{type(estimator).__name__}] got {' and '.join(given) or 'no bound'} for {estimator.svd_solver}; expected {' or '.join(map(' and '.join, known))}")


def _options(estimator, x):
    given = estimator.get_params()
    if type(estimator).__name__ == "IncrementalPCA" and given["n_components"] is not None:
        given["n_components"] = min(given["n_components"], x.shape[-1])
    wrong = next((name for name, known in _ONLY.items() if name in given and given[name] not in known), None)
    if wrong:
        raise NotImplementedError(f"[{type(estimator).__name__}] got {wrong}={given[wrong]!r}; expected {_ONLY[wrong][0]!r}")
    named = {_OURS.get(name, name): _inside(value) for name, value in given.items() if _OURS.get(name, name) and value is not None}
    named = {name: _VALUES.get(value, value) if isinstance(value, str) else value for name, value in named.items()}
    if isinstance(named.get("init"), str):
        named["init"] = _INITS.get(named["init"], named["init"])
    if "feature_range" in given:
        named["low"], named["high"] = given["feature_range"]
    if type(estimator).__name__ == "PCA":
        named["solver"] = given["svd_solver"]
    return named


def _column(labels, name):
    """Returns labels of clusters in HeAT's form."""
    return C.expand_dims(labels, 1).astype(C.int32 if name.startswith("Batch") else labels.dtype)


def _on(found, device, kind=None):
    """Returns HeAT's array of a result, on the device of the rows, with floats no wider than theirs: estimators compute on the CPU, and many in float64."""
    found = _outside(found)
    if isinstance(found, DNDarray) and found.dtype is types.float64 and kind is types.float32:
        found = found.astype(kind)
    return DNDarray(found._x.to_device(device)) if isinstance(found, DNDarray) and found._x.device != device else found


def _method(name):
    def call(self, *given, **named):
        made = self._made
        if made is None and not name.endswith("fit") and type(self).__name__ != "Normalizer":
            raise RuntimeError(f"[{type(self).__name__}] got {name} before fit; expected fit first")
        for without in ("oversampling", "iter_multiplier"):  # options of initial centers, which heatpp chooses otherwise
            named.pop(without, None)
        if isinstance(self, TransformMixin) and (len(given) > 1 or named.pop("y", None) is not None):
            raise ValueError(f"[{name}] got a second argument; expected none")
        if isinstance(self, ClassificationMixin) and not all(isinstance(each, DNDarray) for each in (*given, *(named[key] for key in ("sample_weight",) if named.get(key) is not None))):
            raise ValueError(f"[{name}] got {', '.join(type(each).__name__ for each in given)}; expected arrays")
        sanitize_in(given[0])
        if given[0].ndim != 2:
            raise ValueError(f"[{name}] got {given[0].ndim} axes; expected 2")
        if name == "fit" or made is None:
            made = getattr(C, type(self).__name__)(**_options(self, given[0]))
        found = getattr(made, name)(*map(_inside, given), **{key: _inside(value) for key, value in named.items()})
        self._made, self._device, self._kind = made, given[0]._x.device, given[0].dtype if name.endswith("fit") else self._kind
        if name == "predict" and isinstance(self, ClusteringMixin):
            found = _column(found, type(self).__name__)
        if name.endswith("transform") and getattr(self, "copy", True) is False:
            given[0]._set(found.astype(given[0]._x.dtype).to_device(self._device))
            return self
        return self if found is self._made or name.endswith("fit") else _on(found, self._device)
    call.__name__ = name
    return call


def _estimator(name, mixin, defaults):
    def __init__(self, *given, **named):
        self._made, self._device, self._kind = None, "cpu", None
        for key, value in {**defaults, **dict(zip(defaults, given))}.items():
            setattr(self, key, value)
        self.set_params(**named)

    def __getattr__(self, key):
        """A result of fit, by HeAT's name, which ends in _; None before fit."""
        ours, derived = _OURS.get(key[:-1], key[:-1]), _DERIVED.get(key, _DERIVED.get(f"{name}.{key}"))
        if key.startswith("_") or not key.endswith("_") or not derived and not hasattr(known, ours):
            raise AttributeError(f"{name} has no {key}")
        if self._made is None and mixin is ClassificationMixin:
            raise AttributeError(f"{name} has {key} after fit")
        if self._made is None:
            return 0 if key == "n_samples_seen_" else None
        if key == "labels_":
            return _on(_column(self._made.labels, name), self._device)
        return _on(derived(self._made) if derived else getattr(self._made, ours), self._device, self._kind)

    known = getattr(C, name)
    methods = {each: _method(each) for each in "fit partial_fit predict predict_proba predict_log_proba transform inverse_transform".split() if hasattr(known, each)}
    return type(name, (mixin, BaseEstimator), {"__doc__": known.__doc__, "_defaults": defaults, "__init__": __init__, "__getattr__": __getattr__, **methods,
                                               **_METHODS.get(name, {})})


def _fit_chunks(self, X=None, y=None, *, path=None, chunk_size=None, dataset=None):
    """Learns from rows, or from chunks of the rows of a dataset in an HDF5 file."""
    if X is not None:
        return _method("fit")(self, X, y) if y is not None else _method("fit")(self, X)
    if not str(path).endswith((".h5", ".hdf5")):
        raise ValueError(f"[fit] got {path}; expected an HDF5 file")
    rows = next(each.shape[0] for each in C.io.contents(path) if each.name.strip("/") == dataset.strip("/"))
    if chunk_size > rows:
        raise ValueError(f"[fit] got a chunk_size of {chunk_size}; expected at most the {rows} rows")
    self._made = None
    for start in range(0, rows, chunk_size):
        self.partial_fit(DNDarray(C.io.load_hdf5(path, dataset, slices=[slice(start, min(start + chunk_size, rows))], split=0)))
    return self


def _one_hot(x):
    """Returns a row for each label, with 1 at the label."""
    return _outside(C.eq(C.expand_dims(x._x, 1), C.arange(int(C.max(x._x).item()) + 1, device=x._x.device)).astype(C.float32))


def _fit_labels(self, x, y):
    """Learns from rows and their labels, which may be rows with a single 1."""
    for each, axes in ((x, (2,)), (y, (1, 2))):
        if each.ndim not in axes:
            raise ValueError(f"[fit] got {each.ndim} axes; expected {axes[-1]}")
    return _method("fit")(self, x, _outside(C.argmax(y._x, 1)) if y.ndim == 2 else y)


def _fit_more(self, X, y, classes=None, sample_weight=None):
    """Learns from more rows, whose labels are some of the classes."""
    if classes is not None and not C.all(C.isin(_inside(y), _inside(classes))).item():
        raise ValueError("[partial_fit] got labels that are not among the classes; expected labels of the classes")
    return _method("partial_fit")(self, X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))


def _fit_lasso(self, x, y):
    """Learns y = x theta without a penalty for the coefficient of the first column, by regression of the other columns without their part along it."""
    sanitize_in(x), sanitize_in(y)
    if x.ndim != 2 or y.ndim > 2 or y.size != x.shape[0]:
        raise ValueError(f"[Lasso.fit] got shapes {x.shape} and {y.shape}; expected (samples, features) and (samples,)")
    first, others, y = x._x[:, 0], x._x[:, 1:], C.reshape(y._x, (-1,)).astype(x._x.dtype)
    along = C.divide(first, C.vecdot(first, first))
    beside = C.subtract(others, C.outer(first, C.matmul(along, others))), C.subtract(y, C.multiply(first, C.vecdot(along, y)))
    self._made = C.Lasso(alpha=self.lam, intercept=False, max_iterations=self.max_iter, tol=self.tol or 0.0).fit(*beside)
    theta = self._made.coef.astype(y.dtype).to_device(y.device)
    intercept = C.vecdot(along, C.subtract(y, C.matmul(others, theta)))
    self.theta = DNDarray(C.expand_dims(C.concatenate([C.reshape(intercept, (1,)), theta]), 1))
    self.n_iter = self._made.iterations
    return self


def _predict_lasso(self, x):
    """Returns the products of rows and coefficients, as a column."""
    if self.theta is None:
        raise RuntimeError("[Lasso] got predict before fit; expected fit first")
    return DNDarray(C.matmul(_inside(x), self.theta._x))


def _soft_threshold(self, rho):
    """Moves rho towards 0 by lam; 0 if its distance from 0 is at most lam."""
    return rho + self.lam if rho < -self.lam else rho - self.lam if rho > self.lam else 0.0


def _rmse(self, gt, yest):
    """Returns the root of the mean squared difference, a number."""
    return C.sqrt(C.mean(C.square(C.subtract(_inside(gt), _inside(yest))))).item()


def _predict_spectral(self, x):
    """Returns for each row, in the coordinates of these rows, the nearest cluster mean in the coordinates that fit found: HeAT's rule, for rows
    like those of fit."""
    if self._made is None:
        raise RuntimeError("[Spectral] got predict before fit; expected fit first")
    known, found = self._made, C.Spectral(**_options(self, x)).fit(_inside(x))
    members = _one_hot(DNDarray(known.labels))._x.astype(known.embedding.dtype)
    means = C.divide(C.matmul(members.T, known.embedding), C.expand_dims(C.sum(members, axis=0), 1))
    return _outside(C.argmin(C.spatial.cdist(found.embedding, means), 1, keepdims=True))


_METHODS = {"Lasso": {"fit": _fit_lasso, "predict": _predict_lasso, "soft_threshold": _soft_threshold, "rmse": _rmse, "theta": None, "n_iter": None, "coef_": property(lambda self: None if self.theta is None else self.theta[1:]),
                      "intercept_": property(lambda self: None if self.theta is None else self.theta[0])},
            "Spectral": {"predict": _predict_spectral}, "GaussianNB": {"partial_fit": _fit_more}, **_dynamics.methods,
            "IncrementalPCA": {"fit": _fit_chunks}, "KNeighborsClassifier": {"fit": _fit_labels, "one_hot_encoding": staticmethod(_one_hot)}}

parts = {part: {name: _estimator(name, mixin, defaults) for name, defaults in classes.items()} for part, (mixin, classes) in _TABLE.items()}


def _is(kind):
    return lambda estimator: isinstance(estimator, kind)


is_estimator, is_classifier, is_clusterer = _is(BaseEstimator), _is(ClassificationMixin), _is(ClusteringMixin)
is_regressor, is_transformer = _is(RegressionMixin), _is(TransformMixin)
__all__ = ["BaseEstimator", "ClassificationMixin", "ClusteringMixin", "RegressionMixin", "TransformMixin", "is_estimator", "is_classifier", "is_clusterer",
           "is_regressor", "is_transformer"]
