"""NumPy's names of options, if heatpp's functions have other names."""

import functools
import numbers
import operator

from . import _heatpp as C

def labels_of(labels):
    """Returns the labels of a metric as a list, empty for None."""
    if labels is None:
        return []
    made = [int(operator.index(each)) for each in (labels.tolist() if hasattr(labels, "tolist") else labels)]
    if not made:
        raise ValueError("got labels=[]; expected at least one label, or None for all")
    return made


_LABELS = {"labels": ("labels", labels_of)}
# Functions, and heatpp's names of NumPy's options: None for hints that change no result, a pair for a name and its values (or a function that makes them).
_TOP = {"sort argsort": {"kind": None}, "percentile quantile median nanpercentile nanquantile nanmedian": {"method": "interpolation"}, "eye": {"N": "rows", "M": "columns"}, "diag": {"k": "offset"},
        "clip": {"a_min": "min", "a_max": "max"}, "pad": {"constant_values": "value"}, "full": {"fill_value": "value"}, "select": {"default": "otherwise"},
        "polyfit": {"deg": "degree", "w": "weights"}, "tile": {"reps": "repeats"}, "take take_along_axis put_along_axis unravel_index": {"indices": "positions"},
        "put": {"ind": "positions", "v": "values"}, "swapaxes": {"axis1": "a", "axis2": "b"}, "moveaxis": {"source": "from", "destination": "to"},
        "tri": {"N": "rows", "M": "columns"}, "tril_indices triu_indices": {"n": "rows", "m": "columns"}, "vander": {"N": "n"}, "packbits unpackbits": {"bitorder": "order"},
        "ravel_multi_index": {"multi_index": "positions", "dims": "shape"}, "resize": {"new_shape": "shape"}, "silhouette_score": {"random_state": "seed"}, "log_loss": {"y_pred": "y_prob", "y_proba": "y_prob", **_LABELS}, "brier_score_loss": {"y_proba": "y_prob", **_LABELS},
        "top_k_accuracy_score roc_auc_score roc_auc_scores": _LABELS, "confusion_matrix": {"normalize": ("normalize", {"true": "truth", "pred": "predicted"}), **_LABELS},
        "precision_score recall_score f1_score jaccard_score jaccard_scores precision_recall_fscore_support": {"zero_division": ("zero_division", {"warn": 0.0}), **_LABELS}}
_LINALG = {"eigh eigvalsh": {"UPLO": ("uplo", {"L": "lower", "U": "upper"})}, "pinv lstsq matrix_rank": {"rcond": "rtol"}}
_DIMENSIONS = ("rand", "randn")  # these also take the extents one by one


def named_after(function):
    """Gives the decorated function the name and docstring of a function."""
    def named(made):
        made.__name__, made.__doc__ = function.__name__, function.__doc__
        return made
    return named


def _valued(values, value):
    return values(value) if callable(values) else values.get(value, value) if value is None or isinstance(value, str) else value


def _ours(names, options):
    for name in names.keys() & options.keys():
        target, value = names[name], options.pop(name)
        if isinstance(target, tuple):
            target, value = target[0], _valued(target[1], value)
        if target in options:
            raise TypeError(f"got {name} and {target}, which are the same; expected one of them")
        if target:
            options[target] = value
    return options


def _spelled(function, names):
    """Returns the function with NumPy's names of options as well."""
    @functools.wraps(function, assigned=("__doc__", "__name__"), updated=())
    def call(*arguments, **options):
        if call.__name__ in _DIMENSIONS and len(arguments) > 1 and all(isinstance(each, numbers.Integral) for each in arguments):
            arguments = (arguments,)
        return function(*arguments, **_ours(names, options))
    return call


def _spell(space, table):
    """Gives the functions of a module NumPy's names of options, and returns the names of these functions."""
    found = {name: _spelled(space.get(name) or getattr(C, name), names) for keys, names in table.items() for name in keys.split() if name in space or hasattr(C, name)}
    space.update(found)
    return list(found)


def spell_all(space):
    """Gives the functions of heatpp and of its modules NumPy's names of options. Returns the names of the former."""
    _spell(vars(C.linalg), _LINALG)
    _spell(vars(C.random), {name: {"size": "shape"} for name in dir(C.random) if "shape: int |" in (getattr(C.random, name).__doc__ or "")})
    return _spell(space, _TOP)
