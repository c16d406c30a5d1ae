"""Pipelines of estimators, and model selection, which are templates in C++."""

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


# Arguments: scikit-learn's name, and heatpp's; and hints that change no result.
_NAMES, _ADVICE = {"estimator": "model", "X": "x", "param_grid": "parameters"}, ("n_jobs", "verbose", "pre_dispatch", "error_score")


def _spelled(function):
    """Returns the function with scikit-learn's names of arguments as well."""
    @functools.wraps(function)
    def call(*given, **options):
        return function(*given, **{_NAMES.get(name, name): value for name, value in options.items() if name not in _ADVICE})
    return call


def clone(model):
    """Returns an unfitted estimator with the same parameters. Local."""
    if hasattr(model, "__sklearn_clone__") and not isinstance(model, type):
        return model.__sklearn_clone__()
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(f"[clone] got {model!r}; expected an estimator")
    given = model.get_params(deep=False)
    return type(model)(**{name: clone(value) if hasattr(value, "get_params") and not isinstance(value, type) else value for name, value in given.items()})


class Pipeline:
    """Transformers followed by an estimator or one more transformer, as one estimator: each step learns from the output of the step before it.

    Steps are estimators, or pairs of a name and an estimator, as in scikit-learn; without names they get the names of their classes in lower
    case. Methods of the last step take rows in the form of the first one, and its results are the pipeline's. Communicates as the steps do.
    """

    def __init__(self, *given, steps=None):
        given = steps or (given[0] if len(given) == 1 and isinstance(given[0], list) else given)
        self.steps = [step if isinstance(step, tuple) else (type(step).__name__.lower(), step) for step in given]
        wrong = next((step for _, step in self.steps if isinstance(step, type) or not hasattr(step, "fit")), None)
        if wrong is not None:
            raise TypeError(f"[Pipeline] got {wrong!r}; expected estimators")
        if not self.steps or len(self.named_steps) < len(self.steps):
            raise ValueError(f"[Pipeline] got steps named {[name for name, _ in self.steps]}; expected at least one, with different names")

    @property
    def named_steps(self):
        return dict(self.steps)

    def fit(self, x, *targets, **options):
        """Fits all steps. Targets go to the steps that learn from them, options to the last one."""
        for _, step in self.steps[:-1]:
            x = (step.fit(x, *targets) if hasattr(step, "__sklearn_tags__") else step.fit(x)).transform(x)
        self.steps[-1][1].fit(x, *targets, **options)
        return self

    def _made(self, x):
        for _, step in self.steps[:-1]:
            x = step.transform(x)
        return x

    def __getattr__(self, name):
        """Returns a result of the last step, or a method, whose rows pass through the steps before it."""
        if name.startswith("_") or name in ("steps", "partial_fit"):
            raise AttributeError(f"Pipeline has no {name}")
        found = getattr(self.steps[-1][1], name)
        if not callable(found):
            return found

        def method(*given, **options):
            rows = given[:1] if given and not isinstance(given[0], numbers.Number) else ()
            return found(*map(self._made, rows), *given[len(rows):], **options)
        method.__name__ = name  # scikit-learn's scorers call methods by this name
        return method

    def fit_transform(self, x, *targets, **options):
        """Fits all steps and returns the transformed rows."""
        return self.fit(x, *targets, **options).transform(x)

    def fit_predict(self, x, *targets, **options):
        """Fits all steps and returns the predictions of the last one."""
        return self.fit(x, *targets, **options).predict(x)

    def inverse_transform(self, x):
        """Returns the rows that the steps have transformed into these."""
        for _, step in reversed(self.steps):
            x = step.inverse_transform(x)
        return x

    def get_params(self, deep=True):
        """Returns the steps by name, and their options as step__option."""
        inner = {f"{name}__{key}": value for name, step in self.steps for key, value in step.get_params().items()}
        return {**self.named_steps, **(inner if deep else {})}

    def set_params(self, **given):
        """Replaces steps, and changes options of steps, which are written step__option."""
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


def _as_rows(x):
    """Returns an array; one on a grid is recut to rows, once for all folds."""
    x = x if isinstance(x, C.DNDarray) else C.array(x)
    return C.resplit(x, 0) if sum(ranks > 1 for ranks in x.grid) > 1 else x


def _folds(op, model, x, y, cv, groups=None):
    """Returns rows and targets as arrays, and (train, test) masks: for a number of folds, stratified for classifiers; for a fold class of heatpp;
    or the given ones."""
    x, y = (each if each is None else _as_rows(each) for each in (x, y))
    if y is not None and y.shape[0] != x.shape[0]:
        raise ValueError(f"[{op}] got rows of shape {x.shape} and targets of shape {y.shape}; expected as many targets as rows")
    if cv is None or isinstance(cv, numbers.Integral):
        cv = (C.StratifiedKFold if y is not None and _classifies(model) else C.KFold)(n_splits=5 if cv is None else int(cv))
    folds = cv.split(x, y, groups) if isinstance(cv, _FOLDERS) else cv
    if not isinstance(folds, (list, tuple)) or not folds:
        raise TypeError(f"[{op}] got cv={cv!r}; expected a number, a KFold or another of heatpp's that make folds, or a list of pairs of training rows and test rows")
    return x, y, folds


_FOLDERS = (C.KFold, C.StratifiedKFold, C.GroupKFold, C.TimeSeriesSplit)


def _splitting(kind, which, split):
    """Returns a split method with scikit-learn's arguments, for folds that follow from rows, from their labels or from their groups."""
    @named_after(split)
    def of(self, x, y=None, groups=None):
        given = (x, y, groups)[which]
        if given is None and y is None:
            given = x  # only labels, or only groups
        if given is None:
            raise ValueError(f"[{kind.__name__}.split] got no groups; expected split(x, y, groups), or groups=")
        return split(self, given)
    return of


def _get_n_splits(self, x=None, y=None, groups=None):
    """Returns the number of folds."""
    return self.get_params()["n_splits"]


for _kind, _which in zip(_FOLDERS, (0, 1, 2, 0)):
    _kind.split, _kind.get_n_splits = _splitting(_kind, _which, _kind.split), _get_n_splits


@_spelled
def cross_val_score(model, x, y=None, *, groups=None, cv=5, scoring=None):
    """Returns the scores of copies of the model, as a NumPy array: each copy is fitted to all folds except one and judged on that one.

    `cv` is a number of folds, which are stratified for classifiers, a KFold, StratifiedKFold, GroupKFold of the `groups` or TimeSeriesSplit, or
    the folds themselves. `scoring` is the name of a scorer (accuracy, roc_auc, neg_mean_squared_error; get_scorer_names returns all) or a
    function of a fitted model, rows and targets; by default the model's `score`. Collective, as the fits are.
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
        training, judged = (tuple(each[rows] for each in (x, y) if each is not None) for rows in fold)
        copy = clone(model)
        copy.fit(*training)
        scores.append(float(judged_by(copy, *judged)))
    return scores


@_spelled
def cross_val_predict(model, x, y=None, *, groups=None, cv=5, method="predict"):
    """Returns a prediction for each row, split 0 if rows are split: copies of the model, each fitted to all folds except one, predict for that
    one.

    `cv` and `groups` are as in cross_val_score, with folds that test each row once. `method` is predict, predict_proba, decision_function or
    another method of rows. Collective, as the fits are.
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
            raise ValueError(f"[cross_val_predict] got a fold whose training rows have the labels {labels}, and one with {known}; expected all labels in each")
        known, found = labels, getattr(copy, method)(x[test])
        if made is None:
            made = C.zeros((x.shape[0], *found.shape[1:]), dtype=found.dtype, split=None if x.split is None else 0, comm=x.comm)
        if made.shape[1:] != found.shape[1:]:
            raise ValueError(f"[cross_val_predict] got results of shape {found.shape} for a fold; expected {('rows', *made.shape[1:])}, as for those before")
        made[test] = found
    return made


_NAMED = {1: collections.namedtuple("Fold", "train test"), 2: collections.namedtuple("TrainTest", "x_train x_test y_train y_test")}


def train_test_split(*arrays, test_size=None, train_size=None, shuffle=True, seed=None, random_state=None, stratify=None):
    """Splits the rows of each array into rows for training and rows for tests: `x_train, x_test, y_train, y_test = train_test_split(x, y,
    test_size=30)`.

    Sizes are shares or numbers of rows. The split of the arrays may differ; the same rows are selected of all. See the C++ functions.
    """
    seed = {name: value for name, value in (("seed", seed), ("random_state", random_state)) if value is not None}
    if not arrays or len(seed) > 1:
        raise TypeError(f"[train_test_split] got {len(arrays)} arrays, {' and '.join(seed) or 'no seed'}; expected at least one array, and at most one seed")
    arrays = [each if isinstance(each, C.DNDarray) else each._x if hasattr(each, "_x") else C.array(each) for each in arrays]
    wrong = next((each.shape for each in arrays if len(each.shape) < 1 or each.shape[0] != arrays[0].shape[0]), None)
    if wrong is not None:
        raise ValueError(f"[train_test_split] got arrays of shapes {arrays[0].shape} and {wrong}; expected as many rows")
    masks = C.train_test_masks(arrays[0], test_size=test_size, train_size=train_size, shuffle=shuffle, stratify=stratify, seed=next(iter(seed.values()), 0))
    parts = [each[mask] for each in arrays for mask in masks]
    return _NAMED[len(arrays)](*parts) if len(arrays) in _NAMED else parts


class GridSearch:
    """Finds the best of a model's parameters from lists of values, by the mean score over folds (the first of equal ones), and fits it to all
    rows.

    GridSearch(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}).fit(x, y).best_params; also takes a list of such grids. cv and scoring are as
    in cross_val_score. After fit the search has the attributes of the best model. Collective, as the fits are.
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
            raise ValueError(f"[GridSearch] got no values in {parameters}; expected at least one of each parameter")

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
        """Returns an attribute of the best model."""
        if name.startswith("_") or name == "best_model" and "scores" in self.__dict__:
            raise AttributeError(f"GridSearch has no {name}")
        if "best_model" not in self.__dict__:
            raise C.NotFittedError(f"[GridSearch.{name}] got a search before fit; expected fit first")
        return getattr(self.best_model, name)

    def score(self, x, *targets):
        """Returns the score of the best model, by `scoring` if it is given."""
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


GridSearchCV = GridSearch  # scikit-learn's name

__all__ = ["clone", "Pipeline", "cross_val_score", "cross_val_predict", "train_test_split", "GridSearch", "GridSearchCV"]
