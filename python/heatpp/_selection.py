"""Estimators one behind the other, and the choice among them: what is templates in C++."""

import itertools
import math
import numbers
import statistics

from . import _heatpp as C


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
        """Fits all steps; targets and options go to the last one."""
        for _, step in self.steps[:-1]:
            x = step.fit(x).transform(x)
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

    def __sklearn_clone__(self):
        return Pipeline([(name, clone(step)) for name, step in self.steps])

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, index):
        return self.named_steps[index] if isinstance(index, str) else self.steps[index][1]

    def __repr__(self):
        return f"Pipeline({', '.join(repr(step) for _, step in self.steps)})"


def _classifies(model):
    last = model[-1] if isinstance(model, Pipeline) else model
    return hasattr(type(last), "classes") or getattr(last, "_estimator_type", None) == "classifier"


def _folds(op, model, x, y, cv):
    """Rows and targets as arrays, and (train, test) masks: of so many folds, stratified for classifiers; of KFold or StratifiedKFold; or those given."""
    x, y = (each if each is None or isinstance(each, C.DNDarray) else C.array(each) for each in (x, y))
    if y is not None and y.shape[0] != x.shape[0]:
        raise ValueError(f"[{op}] got rows of shape {x.shape} and targets of shape {y.shape}; expected as many targets as rows")
    if cv is None or isinstance(cv, numbers.Integral):
        cv = (C.StratifiedKFold if y is not None and _classifies(model) else C.KFold)(n_splits=5 if cv is None else int(cv))
    folds = cv.split(y) if isinstance(cv, C.StratifiedKFold) else cv.split(x) if isinstance(cv, C.KFold) else cv
    if not isinstance(folds, (list, tuple)) or not folds:
        raise TypeError(f"[{op}] got cv={cv!r}; expected a number, a KFold or StratifiedKFold of heatpp's, or a list of pairs of rows to learn from and to judge by")
    return x, y, folds


def _judge(scoring):
    """A function of a fitted model, rows and targets: that given, or of the metric of this name, more being better."""
    if scoring is None:
        return lambda model, x, *targets: model.score(x, *targets)
    if not isinstance(scoring, str):
        return scoring
    name = scoring.removeprefix("neg_")
    metric = getattr(C, name, None) or getattr(C, name + "_score", None)
    if metric is None:
        raise ValueError(f"[cross_val_score] got scoring={scoring!r}; expected the name of a metric, or a function of a model, rows and targets")
    return lambda model, x, y: metric(y, model.predict(x)) * (-1 if scoring != name else 1)


def cross_val_score(model, x, y=None, *, cv=5, scoring=None):
    """The score of copies of the model, each fitted to all folds but one, on that one.

    `cv` is a number of folds, which are stratified for classifiers, a KFold, or folds; `scoring` a metric's name (accuracy, r2, neg_mean_squared_error) or a function
    of a fitted model, rows and targets, by default the model's `score`. Collective, as the fits are.
    """
    x, y, folds = _folds("cross_val_score", model, x, y, cv)
    if scoring is None and not hasattr(model, "score"):
        raise ValueError(f"[cross_val_score] got {model!r}, which has no score; expected scoring, a metric's name or a function of a model, rows and targets")
    scores, judge = [], _judge(scoring)
    for fold in folds:
        learnt, judged = (tuple(each[rows] for each in (x, y) if each is not None) for rows in fold)
        copy = clone(model)
        copy.fit(*learnt)
        scores.append(float(judge(copy, *judged)))
    return scores


class GridSearch:
    """The best of a model's parameters from lists of values, by the mean of its scores over folds, the first of equal ones; fitted to all rows then.

    GridSearch(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}).fit(x, y).best_params; a list of such grids; cv and scoring as in cross_val_score. What the best
    model has, the search has after fit. Collective, as the fits are.
    """

    def __init__(self, model, parameters, *, cv=5, scoring=None):
        self.model, self.parameters, self.cv, self.scoring = model, parameters, cv, scoring
        grids = parameters if isinstance(parameters, (list, tuple)) else [parameters]
        wrong = next((f"{name}={values!r}" for grid in grids for name, values in grid.items() if isinstance(values, (str, numbers.Number))), None)
        if wrong:
            raise ValueError(f"[GridSearch] got {wrong}; expected a list of values")
        self.points = [dict(zip(grid, values)) for grid in grids for values in itertools.product(*grid.values())]
        if not self.points:
            raise ValueError(f"[GridSearch] got no values in {parameters}; expected one at least of each parameter")

    def fit(self, x, y=None):
        """Tries all points, and fits the best one to all rows."""
        x, y, folds = _folds("GridSearch.fit", self.model, x, y, self.cv)
        self.scores = [cross_val_score(self._at(point), x, y, cv=folds, scoring=self.scoring) for point in self.points]
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
        return _judge(self.scoring)(self.best_model, x, *targets)

    def get_params(self, deep=True):
        return {"model": self.model, "parameters": self.parameters, "cv": self.cv, "scoring": self.scoring}

    def __repr__(self):
        return f"GridSearch({self.model!r}, {self.parameters})"


__all__ = ["clone", "Pipeline", "cross_val_score", "GridSearch"]
