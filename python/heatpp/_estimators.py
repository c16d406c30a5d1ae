"""scikit-learn's names of options and results for heatpp's estimators, and the interface that scikit-learn's tools need."""

import operator
import re

import numpy

from . import _heatpp as C
from ._signatures import check_choices, is_method, sign_class, signature_of, signed
from ._spellings import named_after

# Options: scikit-learn's name, and heatpp's.
_NAMES = {"random_state": "seed", "max_iter": "max_iterations", "fit_intercept": "intercept", "C": "c", "svd_solver": "solver", "algorithm": "solver", "n_oversamples": "oversamples",
          "iterated_power": "power_iterations", "n_iter": "power_iterations", "alpha_W": "alpha_w", "alpha_H": "alpha_h", "init_params": "init", "affinity": "metric",
          "output_distribution": "output", "handle_unknown": "unknown"}
_DEFAULT = object()
# Values of heatpp's options: scikit-learn's spelling, and heatpp's, or the default.
_VALUES = {"seed": {None: _DEFAULT}, "categorical_features": {None: _DEFAULT, "from_dtype": _DEFAULT}, "early_stopping": {"auto": None}, "validation_fraction": {None: 0.0}, "monotonic_cst": {None: _DEFAULT}, "class_weight": {None: _DEFAULT}, "priors": {None: _DEFAULT}, "power_iterations": {"auto": _DEFAULT},
           "init": {"k-means++": "plus_plus", "k-means||": "parallel", "random_from_data": "random"},
           "metric": {"minkowski": _DEFAULT, "l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"},
           "solver": {"auto": "automatic", "covariance_eigh": "covariance", "arpack": "automatic", "cd": "coordinate_descent", "mu": "multiplicative"}}
_VALUES_OF = {"HistGradientBoostingClassifier": {"loss": {"log_loss": _DEFAULT}}}
# Options whose values are converted to heatpp's form.
_MADE = {"categorical_features": lambda kind, value: _of_features(kind, "categorical_features", value), "monotonic_cst": lambda kind, value: [int(each) for each in _of_features(kind, "monotonic_cst", value)]}
# Classes by scikit-learn's names.
_CLASSES = {"SpectralClustering": "Spectral"}
# Results with as many columns as there are features; the first one that a class has is used.
_OF_FEATURES = ("components", "centers", "theta", "means", "feature_log_prob", "coef", "feature_importances", "scale", "mean", "max_abs", "quantiles", "statistics")
# Options that stand for several of heatpp's, by their value.
_SPLIT = {"feature_range": lambda value: {"low": value[0], "high": value[1]},
          "penalty": {"l2": {"l1_ratio": 0.0}, "l1": {"l1_ratio": 1.0}, "elasticnet": {}, "deprecated": {}, None: {"c": float("inf")}}.get,
          "p": {1: {"metric": "manhattan"}, 2: {}, None: {}}.get}
# Options on how to compute that change no result, for classes without such an option: for all classes, and for some.
_ADVICE = {"n_jobs", "verbose", "verbose_interval", "copy", "copy_X", "copy_x", "algorithm", "leaf_size", "precompute", "power_iteration_normalizer", "order", "eigen_solver", "eigen_tol"}
_ADVICE_OF = {"Ridge LinearRegression": {"solver", "max_iter", "tol", "random_state"}, "LogisticRegression PoissonRegressor": {"solver", "random_state"}, "PCA": {"tol"},
              "ElasticNet Lasso": {"random_state"}, "QuantileTransformer": {"subsample", "random_state"}, "GroupKFold": {"random_state"}, "NMF": {"shuffle"}}
_ADVICE_OF = {name: advice for names, advice in _ADVICE_OF.items() for name in names.split()}
# Options of which heatpp has only some values.
_ONLY = {"positive": (False,), "dual": (False,), "intercept_scaling": (1,), "multi_class": ("auto", "multinomial", "deprecated"), "class_weight": (None,), "selection": ("cyclic",),
         "shrinkage": (None,), "covariance_estimator": (None,), "store_covariance": (False,), "solver": ("svd",), "class_prior": (None,), "force_alpha": (True,), "splitter": ("best",),
         "criterion": ("gini", "squared_error"), "max_leaf_nodes": (None,), "min_impurity_decrease": (0,), "min_weight_fraction_leaf": (0,), "ccp_alpha": (0,), "oob_score": (False,),
         "max_samples": (None,), "monotonic_cst": (None,), "categories": ("auto",), "drop": (None,), "sparse_output": (False,), "add_indicator": (False,), "keep_empty_features": (False,),
         "ignore_implicit_zeros": (False,), "metric_params": (None,), "beta_loss": ("frobenius",), "assign_labels": ("kmeans",), "n_init": ("auto", 1, 3), "max_features": (1.0,), "interaction_cst": (None,), "scoring": ("loss",)}
# Results whose names are not heatpp's with an underscore.
_RESULTS = {"centers": "cluster_centers_", "iterations": "n_iter_", "core_indices": "core_sample_indices_", "reconstruction_error": "reconstruction_err_"}


def _of_features(kind, name, given):
    """Returns what is given of features as a list of whole numbers or of truth values. Names are refused, because rows have none."""
    each = "positions, or a truth value for each feature" if name == "categorical_features" else "1, 0 or -1 for each feature, in their order"
    expected = f"expected {each}, because columns have no names"
    if isinstance(given, dict):
        raise ValueError(f"[{kind.__name__}] got a dict for {name}; {expected}")
    values = numpy.asarray(given.tolist() if hasattr(given, "tolist") else list(given))
    if values.ndim != 1 or values.size and values.dtype.kind not in "biu":
        raise ValueError(f"[{kind.__name__}] got {name}={given!r}; {expected}")
    return values.tolist()


def _is_made(value):
    """Whether a value is a list of whole numbers, or of truth values, as heatpp takes it."""
    return type(value) is list and (all(type(each) is int for each in value) or all(type(each) is bool for each in value))


def _plain(value):
    return value is None or isinstance(value, (str, bool, int, float))


def ours(kind, given):
    """Returns options of a class under heatpp's names and values; None if they have these already."""
    known, made, changed = kind._options, {}, False
    for name, value in given.items():
        found = _ours(kind, name, value)
        both = found.keys() & made.keys()
        if both:
            raise TypeError(f"[{kind.__name__}] got {name} and {', '.join(both)}, which are the same; expected one of them")
        changed = changed or found.keys() != {name} or found[name] is not value
        made.update(found)
    check_choices(kind.__name__, kind.__init__, {name: value for name, value in made.items() if name != "n_init"})
    if "n_init" in known and isinstance(made.get("n_init"), str) and made["n_init"] == "auto":
        made["n_init"], changed = 10 if made.get("init") == "random" else 1, True
    return made if changed else None


def _values(kind, option):
    return {**_VALUES.get(option, {}), **_VALUES_OF.get(kind.__name__, {}).get(option, {})}


def _ours(kind, name, value):
    """Returns the heatpp options for one option."""
    named = name if name in kind._options else _NAMES.get(name, name)
    if named in kind._options:
        spelled = _values(kind, named).get(value, value) if _plain(value) else _MADE[named](kind, value) if named in _MADE and not _is_made(value) else value
        return {} if spelled is _DEFAULT else {named: spelled}
    split = _SPLIT[name](value) if name in _SPLIT else None
    if split is not None and split.keys() <= set(kind._options):
        return split
    if name in _ADVICE | _ADVICE_OF.get(kind.__name__, set()):
        return {}
    if name not in _ONLY:
        return {name: value}
    if not any(_plain(value) and type(value) in (type(each), int, float) and value == each for each in _ONLY[name]):
        raise ValueError(f"[{kind.__name__}] got {name}={value!r}; expected {' or '.join(map(repr, _ONLY[name]))}")
    return {}


class _NotFitted(C.NotFittedError, AttributeError):
    """The error for a result before fit; hasattr accepts it."""


def _result_of_fit(of, doc):
    """Returns a property for a result of fit; before fit it raises an AttributeError."""
    def get(self):
        try:
            return of(self)
        except C.NotFittedError as error:
            raise _NotFitted(str(error)) from None
    return property(get, doc=doc)


def _arguments(function):
    """Returns the names of a method's arguments after self, for each of its signatures."""
    found = re.findall(r"\(self(.*?)\) ->", function.__doc__ or "")
    return [re.findall(r", (\w+):", signature) for signature in found]


def _without_targets(function):
    """Returns a method that learns without targets, but accepts and ignores them, because scikit-learn's tools pass them."""
    @named_after(function)
    def method(self, *given, y=None, **options):
        if len(given) > 2:
            options["sample_weight"] = given[2]
        return function(self, *given[:1], **options)
    return method


def _learns_from_targets(kind):
    return any("y" in names for names in _arguments(kind.fit))


def _type_of(kind):
    if hasattr(kind, "classes") and hasattr(kind, "predict"):
        return "classifier"
    if hasattr(kind, "predict") and _learns_from_targets(kind):
        return "regressor"
    return "clusterer" if hasattr(kind, "labels") else "density_estimator" if hasattr(kind, "score_samples") and not hasattr(kind, "transform") else None


def tags_of(kind, targets, transforms):
    """Returns the tags that scikit-learn's tools need of an estimator of this type."""
    import sklearn.utils as utils
    return utils.Tags(estimator_type=kind, target_tags=utils.TargetTags(required=targets), transformer_tags=utils.TransformerTags() if transforms else None,
                      classifier_tags=utils.ClassifierTags() if kind == "classifier" else None, regressor_tags=utils.RegressorTags() if kind == "regressor" else None)


def _tags(self):
    kind = type(self)
    return tags_of(kind._estimator_type, _learns_from_targets(kind), hasattr(kind, "transform"))


def _is_fitted(self):
    for name in self._results:
        try:
            getattr(self, name)
        except C.NotFittedError:
            return False
        except ValueError:  # a file does not have it
            continue
        return True
    return True


def _features(self):
    """Returns the number of columns of the rows of fit."""
    for name in _OF_FEATURES:
        if name in self._results:
            return int(getattr(self, name).shape[-1])
    features = self.state.options.get("features") if "state" in self._results else None
    if features is not None:
        return int(features)
    if "_columns" in vars(self):
        return self._columns
    raise C.NotFittedError(f"[{type(self).__name__}.n_features_in_] got an estimator that is not fitted; expected fit before")


def _counting(function):
    """Returns a `fit` that keeps the number of columns, for estimators whose results do not tell it."""
    @named_after(function)
    def fit(self, x, *given, **options):
        fitted = function(self, x, *given, **options)
        if len(getattr(x, "shape", ())) == 2:
            self._columns = int(x.shape[1])
        return fitted
    return fit


def _own(kind, made):
    """Returns the names in a class's own dictionary of this type."""
    return [name for name, value in vars(kind).items() if name[0] != "_" and made(value)]


def _dressed(kind, name, function):
    """Returns a method of nanobind's as scikit-learn's tools call it."""
    arguments = _arguments(function)
    without_y = name in ("fit", "partial_fit", "fit_transform", "fit_predict", "score") and bool(arguments) and all(names[1:2] in ([], ["sample_weight"]) for names in arguments)
    made = _without_targets(function) if without_y else function
    if name == "fit" and not {"state", *_OF_FEATURES} & set(kind._results):
        made = _counting(made)
    signature = signature_of(function, with_y=without_y)
    return signed(made, signature) if signature else made


def _kept(value):
    """Returns a value of an option or a state as pickle can keep it: an array as NumPy's. Collective for a split array."""
    if not isinstance(value, C.DNDarray):
        return value
    if value.comm != C.default_comm():
        raise ValueError("[pickle] got an estimator of other ranks than those of default_comm(); expected one of these, or io.save_model for its state")
    return _Kept(value.numpy(), value.split)


class _Kept(tuple):
    """The elements of an array, and its split."""
    def __new__(cls, values, split):
        return super().__new__(cls, (values, split))

    def __getnewargs__(self):
        return tuple(self)


def _given(kept):
    """Returns values by name. Restores the arrays that _kept has converted."""
    from ._api import array
    return {name: array(value[0], split=value[1]) if isinstance(value, _Kept) else value for name, value in kept.items()}


def _unfitted(kind, options):
    return kind(**_given(options))


def _restored(kind, name, options, arrays):
    return kind.from_state((name, options, _given(arrays)))


def _reduced(self):
    """What pickle keeps: options, or the state of a fitted estimator."""
    kind, own = type(self), vars(self) or None
    if not kind._results or not _is_fitted(self):
        return _unfitted, (kind, {name: _kept(value) for name, value in self.get_params().items()}), own
    if "state" not in kind._results:
        raise TypeError(f"[pickle] got a {kind.__name__} that is fitted; expected one that is not, or a class with a state, as KMeans")
    state = self.state
    return _restored, (kind, state.kind, dict(state.options), {name: _kept(value) for name, value in state.arrays.items()}), own


def _no_options(self, deep=True):
    """The options by name, of which there are none."""
    return {}


def _set_no_options(self, **given):
    """Takes no options, as there are none."""
    if given:
        raise ValueError(f"[set_params] got {next(iter(given))}; expected none, as {type(self).__name__} has no options")
    return self


def _dress(kind):
    """Gives a class scikit-learn's names."""
    results = _own(kind, lambda value: isinstance(value, property))
    for name in results:
        setattr(kind, _RESULTS.get(name, name + "_"), _result_of_fit(operator.attrgetter(name), f"scikit-learn's name of {name}."))
    kind._results = [*getattr(kind, "_results", []), *results]
    sign_class(kind)
    for name in _own(kind, is_method):
        setattr(kind, name, _dressed(kind, name, getattr(kind, name)))
    if hasattr(kind, "fit"):
        if not hasattr(kind, "get_params"):
            kind.get_params, kind.set_params = _no_options, _set_no_options
        kind.__reduce__ = _reduced
        kind.n_features_in_ = _result_of_fit(_features, "scikit-learn's name of the number of features of the fit.")
        kind._estimator_type, kind.__sklearn_tags__, kind.__sklearn_is_fitted__ = _type_of(kind), _tags, _is_fitted


def _dress_all():
    """Gives scikit-learn's names to all classes that learn and to their bases; bases come first."""
    kinds = [kind for kind in vars(C).values() if isinstance(kind, type) and hasattr(kind, "fit")]
    every = dict.fromkeys(base for kind in kinds for base in reversed(kind.__mro__) if base is not object)
    for kind in every:
        _dress(kind)
    kind = C.MinMaxScaler
    kind.scale_ = _result_of_fit(lambda self: 1 / self.scale, "The factors of the columns.")
    kind.min_ = _result_of_fit(lambda self: self.get_params()["low"] - self.data_min / self.scale, "The numbers that are added to the scaled columns.")
    kind.data_range_ = _result_of_fit(lambda self: self.data_max - self.data_min, "The largest number minus the least one, for each column.")


_dress_all()
globals().update({name: getattr(C, ours) for name, ours in _CLASSES.items()})

__all__ = list(_CLASSES)
