"""Scorers for models: scikit-learn's names, as functions of a fitted model, rows and targets."""

import math

import numpy

from . import _api
from . import _heatpp as C
from ._spellings import labels_of, named_after

# The argument of a metric: the predicted labels or numbers, the scores of labels (of two labels, that of the larger one), or all probabilities.
_LABELS, _SCORE, _SHARES = "predict", "score", "predict_proba"
# Metrics that know which columns belong to which labels.
_BY_LABELS = {"neg_log_loss", "neg_brier_score", "top_k_accuracy"}
_AVERAGED = {f"{name}_{average}": (f"{name}_score", _LABELS, 1, {"average": average}) for name in ("precision", "recall", "f1", "jaccard") for average in ("macro", "micro", "weighted")}
_AREAS = {f"roc_auc_{which}{behind}": ("roc_auc_score", _SHARES, 1, {"multi_class": which, "average": average})
          for which in ("ovr", "ovo") for behind, average in (("", "macro"), ("_weighted", "weighted"))}
_PLAIN = {name: (name, _LABELS, 1, {}) for name in ("matthews_corrcoef", "rand_score", "adjusted_rand_score", "fowlkes_mallows_score", "mutual_info_score", "normalized_mutual_info_score",
                                                    "adjusted_mutual_info_score", "homogeneity_score", "completeness_score", "v_measure_score")}
_SCORES = {name: (f"{name}_score", _LABELS, 1, {}) for name in ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "jaccard", "r2", "explained_variance")}
_ERRORS = {f"neg_{name}": (name, _LABELS, -1, {}) for name in ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "max_error")}
# Each name has its metric, the metric's argument, the sign that makes larger values better, and its options.
SCORERS = {**_SCORES, **_AVERAGED, **_PLAIN, **_ERRORS, **_AREAS, "roc_auc": ("roc_auc_score", _SCORE, 1, {}), "average_precision": ("average_precision_score", _SCORE, 1, {}),
           "neg_log_loss": ("log_loss", _SHARES, -1, {}), "neg_brier_score": ("brier_score_loss", _SHARES, -1, {}), "top_k_accuracy": ("top_k_accuracy_score", _SCORE, 1, {})}


def get_scorer_names():
    """Returns the names that `scoring` may have."""
    return sorted(SCORERS)


def _scores(model, x):
    """Returns the score of each label; of two labels, that of the larger one."""
    try:
        decide = model.decision_function
    except AttributeError:
        shares = model.predict_proba(x)
        return shares[:, 1] if shares.shape[1] == 2 else shares
    return decide(x)


def _whole(labels):
    return [int(label) for label in (labels.tolist() if hasattr(labels, "tolist") else labels)]


def _scored(name, model, x, y):
    metric, asked, sign, options = SCORERS[name]
    given = _scores(model, x) if asked == _SCORE else getattr(model, asked)(x)
    if asked == _SHARES and len(given.shape) == 2 and given.shape[1] == 2 and name not in _BY_LABELS:
        given, options = given[:, 1], {}
    elif asked == _SHARES or name in _BY_LABELS:
        options = {**options, "labels": _whole(model.classes_)}
    return sign * getattr(C, metric)(y, given, **options)


def judge(op, scoring):
    """Returns a function of a fitted model, rows and targets: the given one, or the one of this name. Larger values are better."""
    if scoring is None:
        return lambda model, x, *targets: model.score(x, *targets)
    if not isinstance(scoring, str):
        if not callable(scoring):
            raise TypeError(f"[{op}] got scoring={scoring!r}; expected a name, or a function of a model, rows and targets")
        return scoring
    if scoring not in SCORERS:
        raise ValueError(f"[{op}] got scoring={scoring!r}; expected one of {', '.join(get_scorer_names())}, or a function of a model, rows and targets")
    return lambda model, x, y: _scored(scoring, model, x, y)


def get_scorer(scoring):
    """Returns the scorer of this name, a function of a fitted model, rows and targets. Larger values are better."""
    return judge("get_scorer", scoring)


def classification_report(y_true, y_pred, *, labels=None, target_names=None, output_dict=False, zero_division=0.0, **options):
    """Returns the scores of every label, or of the given ones, as a table, or as dicts by name. See the C++ function."""
    names = None if target_names is None else [str(name) for name in target_names]
    options = {**options, "labels": labels_of(labels), "zero_division": 0.0 if zero_division == "warn" else zero_division}
    if not output_dict:
        return C.classification_report(y_true, y_pred, target_names=names or [], **options)
    options.pop("digits", None)
    found = C.precision_recall_fscore_support(y_true, y_pred, **options)
    labels, support = _whole(found.labels), found.support.tolist()
    if names and len(names) != len(labels):
        raise ValueError(f"[classification_report] got {len(names)} names for {len(labels)} labels; expected one for each")
    lines = [dict(zip(_COLUMNS, line)) for line in zip(found.precision.tolist(), found.recall.tolist(), found.f1.tolist(), support)]
    total, report = sum(support), dict(zip(names or map(str, labels), lines))
    if not options["labels"] or set(labels) >= set(_whole(C.precision_recall_fscore_support(y_true, y_pred).labels)):
        report["accuracy"] = _mean(lines, support)["recall"]
    else:
        micro = [getattr(C, f"{name}_score")(y_true, y_pred, average="micro", **options) for name in ("precision", "recall", "f1")]
        report["micro avg"] = dict(zip(_COLUMNS, (*micro, total)))
    return {**report, "macro avg": _mean(lines, [1] * len(lines)) | {"support": total}, "weighted avg": _mean(lines, support) | {"support": total}}


_COLUMNS = ("precision", "recall", "f1-score", "support")


def _mean(lines, weights):
    """Returns the weighted means of the scores that are numbers; weights that are all 0 count as 1."""
    means = {}
    for key in _COLUMNS[:3]:
        known = [(weight, line[key]) for weight, line in zip(weights, lines) if line[key] == line[key]]
        known = known if sum(weight for weight, _ in known) else [(1, score) for _, score in known]
        means[key] = sum(weight * score for weight, score in known) / sum(weight for weight, _ in known) if known else math.nan
    return means


def _by_label(mean, each, left_out=()):
    """Returns a metric that with average=None gives an array with the score of each label, by the function `each`."""
    @named_after(mean)
    def score(*given, **options):
        if options.get("average", "") is not None:
            return mean(*given, **options)
        return each(*given, **{name: value for name, value in options.items() if name not in ("average", *left_out)})
    return score


def _part(name):
    return lambda *given, **options: getattr(_api.precision_recall_fscore_support(*given, **options), name)


def _of_columns(mean, each):
    """Returns the function `each` for columns of scores, and for a vector the one score."""
    def scores(*given, multi_class="ovr", **options):
        columns = given[1] if len(given) > 1 else options["y_score"]
        if len(getattr(columns, "shape", None) or numpy.shape(columns)) == 1:
            return mean(*given, **options)
        if multi_class != "ovr":
            raise ValueError(f"[{mean.__name__}] got average=None and multi_class={multi_class!r}; expected 'ovr', the score of each label, or an average")
        return each(*given, **options)
    return scores


precision_score, recall_score, f1_score = (_by_label(getattr(_api, f"{name}_score"), _part(name), ("pos_label",)) for name in ("precision", "recall", "f1"))
jaccard_score = _by_label(_api.jaccard_score, _api.jaccard_scores, ("pos_label",))
roc_auc_score = _by_label(_api.roc_auc_score, _of_columns(_api.roc_auc_score, _api.roc_auc_scores))
average_precision_score = _by_label(C.average_precision_score, _of_columns(C.average_precision_score, C.average_precision_scores))

__all__ = ["get_scorer_names", "get_scorer", "classification_report", "precision_score", "recall_score", "f1_score", "jaccard_score", "roc_auc_score", "average_precision_score"]
