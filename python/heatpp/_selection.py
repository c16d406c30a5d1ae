"""Estimators one behind the other, and the choice among them: what is templates in C++."""

import collections
import functools
import itertools
import math
import numbers
import statistics

import numpy

from . import _heatpp as C
from ._scoring import judge
from ._spellings import named_after


# Arguments: scikit-learn's name, and heatpp's; and advice that changes no result.
_NAMES, _ADVICE = {"estimator": "model", "X": "x", "param_grid": "parameters"}, ("n_jobs", "verbose", "pre_dispatch", "error_score")


def _spelled(function):
    """The function, which understands scikit-learn's names of arguments as well."""
    @functools.wraps(function)
    def call(*given, **options):
        return function(*given, **{_NAMES.get(name, name): value for name, value in options.items() if name not in _ADVICE})
    return call


def clone(model):
    """An estimator with the same parameters that has learnt nothing. Local."""
    if hasattr(model, "__sklearn_clone__") and not isinstance(model, type):
        return model.__sklearn_clone__()
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(f"[clone] got {model!r}; expected an estimator")
    given = model.get_params(deep=False)
    return type(model)(**{name: clone(value) if hasattr(value, "get_params") and not isinstance(value, type) else value for name, value in given.items()})


class Pipeline:
    """Transformers and, behind them, an estimator or one transformer more, as one estimator: each step learns from what the one before it makes of the rows.

    Steps are estimators, or pairs of a name and one, as scikit-learn's; without names they have those of their classes in small letters. Methods of the last step
    take rows as the first one does, and its results are the pipeline's. Communicates as the steps do.
    """

    def __init__(self, *given, steps=None):
        given = steps or (given[0] if len(given) == 1 and isinstance(given[0], list) else given)
        self.steps = [step if isinstance(step, tuple) else (type(step).__name__.lower(), step) for step in given]
        wrong = next((step for _, step in self.steps if isinstance(step, type) or not hasattr(step, "fit")), None)
        if wrong is not None:
            raise TypeError(f"[Pipeline] got {wrong!r}; expected estimators")
        if not self.steps or len(self.named_steps) < len(self.steps):
            raise ValueError(f"[Pipeline] got steps named {[name for name, _ in self.steps]}; expected one at least, with different names")

    @property
    def named_steps(self):
        return dict(self.steps)

    def fit(self, x, *targets, **options):
        """Fits all steps; targets go to those that learn from them, options to the last one."""
        for _, step in self.steps[:-1]:
            x = (step.fit(x, *targets) if hasattr(step, "__sklearn_tags__") else step.fit(x)).transform(x)
        self.steps[-1][1].fit(x, *targets, **options)
        return self

    def _made(self, x):
        for _, step in self.steps[:-1]:
            x = step.transform(x)
        return x

    def __getattr__(self, name):
        """A result of the last step, or a method, whose rows come through those before it."""
        if name.startswith("_") or name in ("steps", "partial_fit"):
            raise AttributeError(f"Pipeline has no {name}")
        found = getattr(self.steps[-1][1], name)
        if not callable(found):
            return found
        return lambda *given, **options: found(*map(self._made, given[:1]), *given[1:], **options) if given and not isinstance(given[0], numbers.Number) else found(*given, **options)

    def fit_transform(self, x, *targets, **options):
        """Fits all steps and gives what they make of the rows."""
        return self.fit(x, *targets, **options).transform(x)

    def fit_predict(self, x, *targets, **options):
        """Fits all steps and gives what the last one predicts."""
        return self.fit(x, *targets, **options).predict(x)

    def inverse_transform(self, x):
        """The rows of which the steps have made these."""
        for _, step in reversed(self.steps):
            x = step.inverse_transform(x)
        return x

    def get_params(self, deep=True):
        """The steps by name, and their options as step__option."""
        inner = {f"{name}__{key}": value for name, step in self.steps for key, value in step.get_params().items()}
        return {**self.named_steps, **(inner if deep else {})}

    def set_params(self, **given):
        """Puts others in the place of steps, and changes options of steps, which are spelled step__option."""
        wrong = next((key for key in given if key.partition("__")[0] not in self.named_steps), None)
        if wrong:
            raise ValueError(f"[Pipeline] got {wrong}; expected one of {list(self.named_steps)}, or two underscores and an option behind it")
        self.steps = [(name, given.get(name, step)) for name, step in self.steps]
        for key, value in given.items():
            name, _, option = key.partition("__")
            if option:
                self.named_steps[name].set_params(**{option: value})
        return self

    def __sklearn_tags__(self):
        last = self.steps[-1][1]
        return last.__sklearn_tags__()

    def __sklearn_clone__(self):
        return Pipeline([(name, clone(step)) for name, step in self.steps])

    @property
    def n_features_in_(self):
        return self[0].n_features_in_

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, index):
        return self.named_steps[index] if isinstance(index, str) else self.steps[index][1]

    def __repr__(self):
        return f"Pipeline({', '.join(repr(step) for _, step in self.steps)})"


def _classifies(model):
    model = model.model if isinstance(model, GridSearch) else model
    last = model[-1] if isinstance(model, Pipeline) else model
    return hasattr(type(last), "classes") or getattr(last, "_estimator_type", None) == "classifier"


def _folds(op, model, x, y, cv, groups=None):
    """Rows and targets as arrays, and (train, test) masks: of so many folds, stratified for classifiers; of one of heatpp's that make folds; or those given."""
    x, y = (each if each is None or isinstance(each, C.DNDarray) else C.array(each) for each in (x, y))
    if y is not None and y.shape[0] != x.shape[0]:
        raise ValueError(f"[{op}] got rows of shape {x.shape} and targets of shape {y.shape}; expected as many targets as rows")
    if cv is None or isinstance(cv, numbers.Integral):
        cv = (C.StratifiedKFold if y is not None and _classifies(model) else C.KFold)(n_splits=5 if cv is None else int(cv))
    folds = cv.split(x, y, groups) if isinstance(cv, _FOLDERS) else cv
    if not isinstance(folds, (list, tuple)) or not folds:
        raise TypeError(f"[{op}] got cv={cv!r}; expected a number, a KFold or another of heatpp's that make folds, or a list of pairs of rows to learn from and to judge by")
    return x, y, folds


_FOLDERS = (C.KFold, C.StratifiedKFold, C.GroupKFold, C.TimeSeriesSplit)


def _splitting(kind, which, split):
    """The folds of rows, of their labels or of their groups, whichever they follow from, as scikit-learn has them."""
    @named_after(split)
    def of(self, x, y=None, groups=None):
        given = (x, y, groups)[which]
        if given is None and y is None:
            given = x  # labels, or groups, alone
        if given is None:
            raise ValueError(f"[{kind.__name__}.split] got no groups; expected split(x, y, groups), or groups=")
        return split(self, given)
    return of


def _get_n_splits(self, x=None, y=None, groups=None):
    """The number of folds."""
    return self.get_params()["n_splits"]


for _kind, _which in zip(_FOLDERS, (0, 1, 2, 0)):
    _kind.split, _kind.get_n_splits = _splitting(_kind, _which, _kind.split), _get_n_splits


@_spelled
def cross_val_score(model, x, y=None, *, groups=None, cv=5, scoring=None):
    """The score of copies of the model, each fitted to all folds but one, on that one, as an array of NumPy's.

    `cv` is a number of folds, which are stratified for classifiers, a KFold, StratifiedKFold, GroupKFold of the `groups` or TimeSeriesSplit, or folds; `scoring` a
    scorer's name (accuracy, roc_auc, neg_mean_squared_error; get_scorer_names has all) or a function of a fitted model, rows and targets, by default the model's
    `score`. Collective, as the fits are.
    """
    x, y, folds = _folds("cross_val_score", model, x, y, cv, groups)
    return numpy.array(_scores(model, x, y, folds, _checked_judge("cross_val_score", model, scoring)))


def _checked_judge(op, model, scoring):
    if scoring is None and not hasattr(model, "score"):
        raise ValueError(f"[{op}] got {model!r}, which has no score; expected scoring, a scorer's name or a function of a model, rows and targets")
    return judge(op, scoring)


def _scores(model, x, y, folds, judged_by):
    scores = []
    for fold in folds:
        learnt, judged = (tuple(each[rows] for each in (x, y) if each is not None) for rows in fold)
        copy = clone(model)
        copy.fit(*learnt)
        scores.append(float(judged_by(copy, *judged)))
    return scores


@_spelled
def cross_val_predict(model, x, y=None, *, groups=None, cv=5, method="predict"):
    """What copies of the model, each fitted to all folds but one, predict for that one: a result for each row, split 0 where rows are split.

    `cv` and `groups` are as in cross_val_score, of folds in which each row is for tests once; `method` is predict, predict_proba, decision_function or another method
    of rows. Collective, as the fits are.
    """
    x, y, folds = _folds("cross_val_predict", model, x, y, cv, groups)
    times = C.zeros(x.shape[0], dtype=C.int64, split=None if x.split is None else 0, comm=x.comm)
    for _, test in folds:
        times[test] = times[test] + 1
    if not bool(C.all(times == 1)):
        raise ValueError("[cross_val_predict] got folds in which rows are for tests in none or in several; expected each row in one")
    made = known = None
    for train, test in folds:
        copy = clone(model)
        copy.fit(*(each[train] for each in (x, y) if each is not None))
        labels = copy.classes_.tolist() if method != "predict" and _classifies(copy) else None
        if labels != known and made is not None:
            raise ValueError(f"[cross_val_predict] got a fold whose rows to learn from have the labels {labels}, and one with {known}; expected all labels in each")
        known, found = labels, getattr(copy, method)(x[test])
        if made is None:
            made = C.zeros((x.shape[0], *found.shape[1:]), dtype=found.dtype, split=None if x.split is None else 0, comm=x.comm)
        if made.shape[1:] != found.shape[1:]:
            raise ValueError(f"[cross_val_predict] got results of shape {found.shape} for a fold; expected {('rows', *made.shape[1:])}, as for those before")
        made[test] = found
    return made


_NAMED = {1: collections.namedtuple("Fold", "train test"), 2: collections.namedtuple("TrainTest", "x_train x_test y_train y_test")}


def train_test_split(*arrays, test_size=None, train_size=None, shuffle=True, seed=None, random_state=None, stratify=None):
    """Rows to learn from and rows for tests, of each array in turn: `x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=30)`.

    Sizes are shares of the rows or numbers of them. Arrays may be cut otherwise; the same rows are set apart of all. See the C++ functions.
    """
    seed = {name: value for name, value in (("seed", seed), ("random_state", random_state)) if value is not None}
    if not arrays or len(seed) > 1:
        raise TypeError(f"[train_test_split] got {len(arrays)} arrays, {' and '.join(seed) or 'no seed'}; expected an array at least, and one seed at most")
    arrays = [each if isinstance(each, C.DNDarray) else each._x if hasattr(each, "_x") else C.array(each) for each in arrays]
    wrong = next((each.shape for each in arrays if len(each.shape) < 1 or each.shape[0] != arrays[0].shape[0]), None)
    if wrong is not None:
        raise ValueError(f"[train_test_split] got arrays of shapes {arrays[0].shape} and {wrong}; expected as many rows")
    masks = C.train_test_masks(arrays[0], test_size=test_size, train_size=train_size, shuffle=shuffle, stratify=stratify, seed=next(iter(seed.values()), 0))
    parts = [each[mask] for each in arrays for mask in masks]
    return _NAMED[len(arrays)](*parts) if len(arrays) in _NAMED else parts


class GridSearch:
    """The best of a model's parameters from lists of values, by the mean of its scores over folds, the first of equal ones; fitted to all rows then.

    GridSearch(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}).fit(x, y).best_params; a list of such grids; cv and scoring as in cross_val_score. What the best
    model has, the search has after fit. Collective, as the fits are.
    """

    @_spelled
    def __init__(self, model, parameters, *, cv=5, scoring=None, refit=True):
        if refit is not True:
            raise ValueError(f"[GridSearch] got refit={refit!r}; expected True: the best model is fitted to all rows")
        self.model, self.parameters, self.cv, self.scoring = model, parameters, cv, scoring
        grids = parameters if isinstance(parameters, (list, tuple)) else [parameters]
        wrong = next((f"{name}={values!r}" for grid in grids for name, values in grid.items() if isinstance(values, (str, numbers.Number))), None)
        if wrong:
            raise ValueError(f"[GridSearch] got {wrong}; expected a list of values")
        self.points = [dict(zip(grid, values)) for grid in grids for values in itertools.product(*grid.values())]
        if not self.points:
            raise ValueError(f"[GridSearch] got no values in {parameters}; expected one at least of each parameter")

    def fit(self, x, y=None, *, groups=None):
        """Tries all points, and fits the best one to all rows."""
        x, y, folds = _folds("GridSearch.fit", self.model, x, y, self.cv, groups)
        judged_by = _checked_judge("GridSearch.fit", self.model, self.scoring)
        self.scores = [_scores(self._at(point), x, y, folds, judged_by) for point in self.points]
        means = [statistics.fmean(scores) for scores in self.scores]
        best = max(range(len(means)), key=lambda i: -math.inf if math.isnan(means[i]) else means[i])
        self.best_score, self.best_params, self.best_model = means[best], self.points[best], self._at(self.points[best])
        self.best_model.fit(*(each for each in (x, y) if each is not None))
        return self

    def _at(self, point):
        model = clone(self.model)
        model.set_params(**point)
        return model

    def __getattr__(self, name):
        """What the best model has."""
        if name.startswith("_") or name == "best_model" and "scores" in self.__dict__:
            raise AttributeError(f"GridSearch has no {name}")
        if "best_model" not in self.__dict__:
            raise C.NotFittedError(f"[GridSearch.{name}] got a search before fit; expected fit first")
        return getattr(self.best_model, name)

    def score(self, x, *targets):
        """The score of the best model, by scoring if it is given."""
        return judge("GridSearch.score", self.scoring)(self.best_model, x, *targets)

    @property
    def cv_results_(self):
        """scikit-learn's table: params, and the scores of each fold, their mean, standard deviation and rank."""
        scores = numpy.array(self._fitted("cv_results_").scores)
        means = scores.mean(axis=1)
        return {"params": self.points, **{f"split{i}_test_score": column for i, column in enumerate(scores.T)}, "mean_test_score": means, "std_test_score": scores.std(axis=1),
                "rank_test_score": 1 + (means[None, :] > means[:, None]).sum(axis=1)}

    best_params_ = property(lambda self: self._fitted("best_params_").best_params)
    best_score_ = property(lambda self: self._fitted("best_score_").best_score)
    best_estimator_ = property(lambda self: self._fitted("best_estimator_").best_model)
    best_index_ = property(lambda self: self.points.index(self.best_params_))

    def _fitted(self, name):
        if "best_model" not in self.__dict__:
            raise AttributeError(f"[GridSearch.{name}] got a search before fit; expected fit first")
        return self

    def __sklearn_tags__(self):
        return self.model.__sklearn_tags__()

    def get_params(self, deep=True):
        return {"model": self.model, "parameters": self.parameters, "cv": self.cv, "scoring": self.scoring}

    def __repr__(self):
        return f"GridSearch({self.model!r}, {self.parameters})"


GridSearchCV = GridSearch  # as scikit-learn calls it

__all__ = ["clone", "Pipeline", "cross_val_score", "cross_val_predict", "train_test_split", "GridSearch", "GridSearchCV"]
