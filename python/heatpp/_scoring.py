"""Scorers for models: scikit-learn's names, as functions of a fitted model, rows and targets."""

from . import _heatpp as C

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


def classification_report(y_true, y_pred, *, target_names=None, output_dict=False, **options):
    """Returns the scores of every label as a table, or as dicts by name. See the C++ function."""
    names = None if target_names is None else [str(name) for name in target_names]
    if not output_dict:
        return C.classification_report(y_true, y_pred, target_names=names or [], **options)
    options = {name: value for name, value in options.items() if name != "digits"}
    found = C.precision_recall_fscore_support(y_true, y_pred, **options)
    labels, support = _whole(found.labels), found.support.tolist()
    if names and len(names) != len(labels):
        raise ValueError(f"[classification_report] got {len(names)} names for {len(labels)} labels; expected one for each")
    lines = [dict(zip(("precision", "recall", "f1-score", "support"), line)) for line in zip(found.precision.tolist(), found.recall.tolist(), found.f1.tolist(), support)]
    total = sum(support)

    def mean(weights):
        return {key: sum(weight * line[key] for weight, line in zip(weights, lines)) / sum(weights) for key in ("precision", "recall", "f1-score")} | {"support": total}

    report = dict(zip(names or map(str, labels), lines))
    weighted = mean(support)
    return {**report, "accuracy": weighted["recall"], "macro avg": mean([1] * len(lines)), "weighted avg": weighted}


__all__ = ["get_scorer_names", "get_scorer", "classification_report"]
