"""HeAT's dynamic mode decompositions, based on heatpp's."""

import torch

from .. import _heatpp as C
from ._arrays import DNDarray, sanitize_in


def _rank(matrix, solver, tol):
    """Returns how many directions of a matrix HeAT keeps."""
    squares = torch.from_numpy(C.linalg.svdvals(matrix).numpy().astype(float)) ** 2
    kept = squares.cumsum(0) / squares.sum()
    return int((kept <= 1 - tol if solver == "full" else 1 - kept > tol ** 2).sum()) + 1


def fit(self, X, C_=None):
    """Learns from snapshots, the columns of X, and from controls, the columns of C_, each of which drives one snapshot to the next."""
    sanitize_in(X)
    if X.ndim != 2 or X.shape[1] < 2 or C_ is not None and C_.ndim != 2:
        raise ValueError(f"[fit] got shape {X.shape}; expected (features, time), and controls of (controls, time), at two times or more")
    options = {}
    if self.svd_tol is not None:
        before, after = X._x[:, :-1], X._x[:, 1:]
        options["rank"] = _rank(before if C_ is None else after, self.svd_solver, self.svd_tol)
        if C_ is not None:
            options["system_rank"] = _rank(C.vstack([before, C_._x[:, :X.shape[1] - 1]]), self.svd_solver, self.svd_tol)
    elif self.svd_rank is not None:
        options["rank"] = self.svd_rank
        if C_ is not None:
            options["system_rank"] = self.svd_rank + C_.shape[0]
    made = getattr(C, type(self).__name__)(**options)
    made.fit(X._x, *([] if C_ is None else [C_._x]))
    self._made = made
    return self


def _states(self, X, axis):
    """Returns states as columns of their features, which are along an axis."""
    if self._made is None:
        raise RuntimeError(f"[{type(self).__name__}] got predict before fit; expected fit first")
    sanitize_in(X)
    here = X._x.to_device("cpu")
    columns = C.expand_dims(here, 1) if X.ndim == 1 else here if axis == 0 or X.ndim != 2 else here.T
    basis = self._made.basis
    if columns.ndim != 2 or columns.shape[0] != basis.shape[0]:
        raise ValueError(f"[predict] got shape {X.shape}; expected {basis.shape[0]} features along axis {axis}")
    return columns, basis, C.matmul(basis.T, columns)


def predict_next(self, X, n_steps=1):
    """Returns states, the columns of X, after n_steps steps."""
    if not isinstance(n_steps, int):
        raise TypeError(f"[predict_next] got {n_steps!r}; expected a whole number")
    _, basis, reduced = _states(self, X, 0)
    power = torch.linalg.matrix_power(torch.from_numpy(self._made.transfer.numpy()), n_steps)
    return DNDarray(C.reshape(C.matmul(basis, C.matmul(C.array(power.numpy()), reduced)), X.shape).to_device(X._x.device))


def predict(self, X, steps):
    """Returns states, the columns of X, after each of several numbers of steps: (states, features, steps)."""
    if not isinstance(steps, (int, list)):
        raise TypeError(f"[predict] got {steps!r}; expected a whole number or a list of them")
    _, basis, reduced = _states(self, X, 0)
    values, vectors = (torch.from_numpy(each.numpy()) for each in (self._made.eigenvalues, self._made.eigenvectors))
    steps = torch.tensor([*range(steps)] if isinstance(steps, int) else steps)
    powers = (vectors * values.pow(steps[:, None])[:, None, :] @ vectors.inverse()).real.contiguous()
    found = C.permute_dims(C.matmul(basis, C.matmul(C.array(powers.numpy()), reduced)), (2, 1, 0))
    return DNDarray((C.squeeze(found, 0) if X.ndim == 1 else found).to_device(X._x.device))


def predict_driven(self, X, C_):
    """Returns states, the rows of X, which the columns of C_ drive from each time to the next: (states, features, times)."""
    columns, basis, reduced = _states(self, X, 1)
    controls = (C.expand_dims(C_._x, 1) if C_.ndim == 1 else C_._x).to_device("cpu")
    found = [C.expand_dims(C.matmul(basis, reduced), 2)]
    if controls.ndim != 2 or controls.shape[0] != self._made.control.shape[1]:
        raise ValueError(f"[predict] got controls of shape {C_.shape}; expected {self._made.control.shape[1]} along axis 0")
    if controls.shape[1] > 1:
        found.append(self._made.predict(columns, controls[:, :-1]))
    return DNDarray(C.permute_dims(C.concatenate(found, 2), (1, 0, 2)).astype(X._x.dtype).to_device(X._x.device))


methods = {"DMD": {"fit": fit, "predict": predict, "predict_next": predict_next}, "DMDc": {"fit": fit, "predict": predict_driven}}
