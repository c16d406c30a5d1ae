"""HeAT's names, signatures and rules on heatpp's arrays: `import heatpp.heat as ht` in place of `import heat as ht`.

What HeAT has otherwise than heatpp stands in the tables below; all else is heatpp's function of that name.
"""

import builtins
import sys
import types as _python

import numpy as np

from .. import _heatpp as C
from . import types
from ._arrays import (MPI, MPI_WORLD, Communication, Device, DNDarray, MPICommunication, _inside, _outside, _put, redistributed, array, asarray, cpu, get_comm, get_device,
                      sanitize_axis, sanitize_comm, sanitize_device, sanitize_in, sanitize_out, use_comm, use_device)
from ._estimators import *  # noqa: F401,F403
from ._estimators import parts as _parts
from ._wrapped import _floats, _wrapped
from .types import *  # noqa: F401,F403

_here = sys.modules[__name__]


def _module(name, **members):
    """A part of HeAT's namespace, which can be imported, too."""
    module = sys.modules[f"{__name__}.{name}"] = _python.ModuleType(f"{__name__}.{name}")
    module.__dict__.update(members)
    return module


# Functions whose results or arguments HeAT has otherwise.


def arange(*args, dtype=None, split=None, device=None, comm=None):
    """Evenly spaced numbers, int32 where all that is given are whole."""
    kind = types.int32 if builtins.all(isinstance(each, builtins.int) for each in args) else types.float32
    found = DNDarray(C.arange(*args, dtype=types.ours_of(kind), split=split, device=str(sanitize_device(device)), comm=sanitize_comm(comm).handle))
    return found if dtype is None else found.astype(dtype)


def eye(shape, dtype=types.float32, split=None, device=None, comm=None, order="C"):
    """Ones on the diagonal, zeros beside it."""
    rows, columns = (shape if isinstance(shape, (tuple, list)) else (shape,)) * (1 if isinstance(shape, (tuple, list)) and len(shape) == 2 else 2)
    return DNDarray(C.eye(rows, columns, dtype=types.ours_of(dtype), split=split, device=str(sanitize_device(device)), comm=sanitize_comm(comm).handle))


def full(shape, fill_value, dtype=types.float32, split=None, device=None, comm=None, order="C"):
    """An array of one number."""
    return DNDarray(C.full(shape, _inside(fill_value), dtype=types.ours_of(dtype), split=split, comm=sanitize_comm(comm).handle))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, split=None, device=None, comm=None):
    """Evenly spaced numbers, with the step if it is asked for."""
    kind = types.ours_of(dtype or types.float32)
    found = DNDarray(C.linspace(start, stop, num, endpoint, dtype=kind, split=split, comm=sanitize_comm(comm).handle))
    return (found, (stop - start) / builtins.max(1, num - endpoint)) if retstep else found


def nonzero(x):
    """The positions of what is not 0, a row for each."""
    found = C.argwhere(x._x)
    return DNDarray(C.reshape(found, (-1,)) if x.ndim == 1 else found)


def where(cond, x=None, y=None):
    """x where the condition holds and y elsewhere, or the positions where it holds."""
    if x is None and y is None:
        return nonzero(cond)
    kind = types.result_type(x, y)
    x, y = (each.astype(kind) if isinstance(each, DNDarray) else each for each in (x, y))
    return DNDarray(C.where(C.not_equal(cond._x, 0), _inside(x), _inside(y)).astype(types.ours_of(kind)))


def sort(a, axis=-1, descending=False, out=None):
    """The sorted elements and where they were."""
    sanitize_in(a)
    return _put(DNDarray(C.sort(a._x, axis, descending)), out), DNDarray(C.argsort(a._x, axis, descending).astype(C.int32))


def unique(a, sorted=False, return_inverse=False, axis=None):
    """The distinct elements, and where each element is among them if it is asked for."""
    found = DNDarray(C.unique(a._x, axis))
    return (found, DNDarray(C.unique_inverse(a._x)[1])) if return_inverse else found


def equal(x, y):
    """Whether two arrays are the same."""
    x, y = (each if isinstance(each, DNDarray) else array(each) for each in (x, y))
    return x.shape == y.shape and C.array_equal(x._x, y._x)


def resplit(arr, axis=None):
    """A copy, cut along another axis."""
    sanitize_in(arr)
    return DNDarray(C.copy(C.resplit(arr._x, sanitize_axis(arr.shape, axis))))


def redistribute(arr, lshape_map=None, target_map=None):
    """A copy, cut as the map says."""
    return DNDarray(redistributed(arr, target_map))


def balance(array, copy=False):
    """An array that is cut evenly."""
    return DNDarray(C.balance(array._x)) if copy else array._set(C.balance(array._x))


def reshape(a, *shape, new_split=None, **options):
    """Another shape, split as the array was if it has as many axes, and else along the first."""
    shape = options.get("shape", shape[0] if len(shape) == 1 else shape)
    found = C.reshape(a._x, shape)
    new_split = a.split if new_split is None and found.ndim == a.ndim else 0 if new_split is None and a.split is not None else new_split
    return DNDarray(C.resplit(found, sanitize_axis(tuple(found.shape), new_split)))


def round(x, decimals=0, out=None, dtype=None):
    """Rounded to so many decimals."""
    found = DNDarray(C.around(x._x, decimals) if decimals else C.rint(x._x))
    return _put(found if dtype is None else found.astype(dtype), out)


def histc(input, bins=100, min=0, max=0, out=None):
    """How many elements lie in each of so many bins."""
    sanitize_in(input)
    return _put(DNDarray(C.histc(input._x, bins, min, max)), out)


def histogram(a, bins=10, range=(0, 0), normed=None, weights=None, density=None):
    """How many elements lie in each of so many bins."""
    return histc(a, bins, *range)


def _of_all(function):
    """The position along an axis, or in an array of one axis that among all elements."""
    def call(x, axis=None, out=None, keepdims=False):
        sanitize_in(x)
        found = DNDarray(function(x._x, sanitize_axis(x.shape, axis), keepdims=keepdims))
        return _put(reshape(found, (1,)) if axis is None and not keepdims else found, out)
    return call


argmax, argmin = _of_all(C.argmax), _of_all(C.argmin)


def _unbiased(name, factor):
    def call(x, axis=None, unbiased=True, Fischer=True):
        x = _floats(x)
        sanitize_in(x)
        n = x.size if axis is None else x.shape[sanitize_axis(x.shape, axis)]
        found = getattr(C, name)(x._x, axis=sanitize_axis(x.shape, axis))
        return DNDarray(factor(found, n, unbiased, Fischer))
    return call


def _kurtosis(found, n, unbiased, fischer):
    found = C.add(C.multiply(found, n + 1), 6) if unbiased else found
    found = C.multiply(found, (n - 1) / ((n - 2) * (n - 3))) if unbiased else found
    return found if fischer else C.add(found, 3)


skew = _unbiased("skew", lambda found, n, unbiased, _: C.multiply(found, (n * (n - 1)) ** 0.5 / (n - 2)) if unbiased else found)
kurtosis = _unbiased("kurtosis", _kurtosis)


def get_printoptions():
    """How arrays are printed."""
    return dict(C.get_printoptions()._asdict())


def average(x, axis=None, weights=None, returned=False):
    """The mean with weights, with their sum if it is asked for."""
    sanitize_in(x)
    function = C.average_returned if returned else C.average
    return _outside(function(_floats(x)._x, axis=axis, weights=_inside(weights)))


def can_cast(from_, to, casting="intuitive"):
    """Whether a type may be converted to another."""
    kinds = [types.canonical_heat_type(from_ if not isinstance(from_, DNDarray) else from_.dtype), types.canonical_heat_type(to)]
    if casting not in ("no", "safe", "same_kind", "unsafe", "intuitive"):
        raise ValueError(f"[can_cast] got {casting!r}; expected no, safe, same_kind, unsafe or intuitive")
    return kinds[0] is kinds[1] if casting == "no" else types.promote_types(*kinds) is kinds[1] if casting == "intuitive" else \
        C.can_cast(*map(types.ours_of, kinds), casting)


def _by_extension(action):
    def call(*given, **named):
        path = str(given[1 if action == "save" and len(given) > 1 else 0] if given else named["path"])
        kind = {"csv": "csv", "h5": "hdf5", "hdf5": "hdf5", "nc": "netcdf", "nc4": "netcdf", "zarr": "zarr"}.get(path.rpartition(".")[2])
        if kind is None:
            raise ValueError(f"[{action}] got {path}; expected csv, h5, hdf5, nc, nc4 or zarr at its end")
        return getattr(io, f"{action}_{kind}")(*given, **named)
    return call


load, save = _by_extension("load"), _by_extension("save")


def print0(*args, **kwargs):
    """Prints on rank 0."""
    if MPI_WORLD.rank == 0:
        print(*args, **kwargs)


def _svd(A, full_matrices=False, compute_uv=True, qr_procs_to_merge=2, r_max_zolopd=8):
    """U, S and Vh, or S alone."""
    sanitize_in(A)
    return _outside(C.linalg.svd(A._x, full_matrices=full_matrices) if compute_uv else C.linalg.svdvals(A._x))


def _qr(A, mode="reduced", procs_to_merge=2):
    """Q and R, or None and R where mode is r."""
    found = _plain_qr(A, mode)
    return type(found)(None, found.R) if mode == "r" else found


def _polar(A, r=None, calcH=True, condition_estimate=1e16, silent=True, r_max=8):
    """The unitary and the hermitian factor, or the first alone."""
    sanitize_in(A)
    found = _outside(C.linalg.polar(A._x))
    return found if calcH else found[0]


def _of_vectors(function):
    """Takes a vector for each matrix of a stack, too."""
    def call(A, b, *given, **named):
        stacked = isinstance(A, DNDarray) and isinstance(b, DNDarray) and 1 < b.ndim == A.ndim - 1 and b.shape == A.shape[:-1]
        found = function(A, DNDarray(C.expand_dims(b._x, -1)) if stacked else b, *given, **named)
        return DNDarray(C.squeeze(found._x, -1)) if stacked else found
    return call


def _of_shape(function):
    """Numbers for extents given one by one."""
    def call(*d, dtype=types.float32, split=None, device=None, comm=None):
        shape = d[0] if len(d) == 1 and isinstance(d[0], (tuple, list)) else d
        parts = [function(shape, dtype=types.ours_of(types.real_of(dtype)), split=split, comm=sanitize_comm(comm).handle) for _ in range(1 + types.heat_type_is_complexfloating(dtype))]
        return DNDarray(parts[0] if len(parts) == 1 else C.add(parts[0], C.multiply(parts[1], 1j)).astype(types.ours_of(dtype)))
    return call


_state = {"seed": 0}


def _seed(seed=None):
    """Starts the generator again."""
    C.random.seed() if seed is None else C.random.seed(seed)
    _state["seed"] = C.random.get_state().key if seed is None else seed


def _get_state():
    """The name of a generator, its seed and how far it is."""
    return "Threefry", _state["seed"], C.random.get_state().position, 0, 0.0


def _set_state(state):
    """Takes what get_state gave."""
    if not isinstance(state, tuple) or len(state) not in (3, 5):
        raise TypeError(f"[set_state] got {state!r}; expected a tuple of 3 or 5")
    if state[0] not in ("Threefry", "Batchparallel"):
        raise ValueError(f"[set_state] got {state[0]!r}; expected Threefry or Batchparallel")
    _seed(state[1])
    C.random.set_state(C.random.get_state()._replace(position=state[2] if state[0] == "Threefry" else 0))


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How arrays are printed."""
    of_profile = {"default": (4, 1000, 3), "short": (2, 1000, 2), "full": (4, np.iinfo(np.int64).max, 3)}.get(profile, (None,) * 3)
    given = zip(("precision", "threshold", "edgeitems", "linewidth", "sci_mode"), (*(mine if mine is not None else its for mine, its in zip((precision, threshold, edgeitems), of_profile)), linewidth, sci_mode))
    C.set_printoptions(**{name: value for name, value in given if value is not None})


def _whole(low, high=None, size=None, dtype=types.int32, split=None, device=None, comm=None):
    """Whole numbers of an interval."""
    return DNDarray(C.random.randint(low, high, () if size is None else size, dtype=types.ours_of(dtype), split=split, comm=sanitize_comm(comm).handle))


_core = _wrapped("", C)
linalg, fft, random, spatial, io, sparse = (_module(name, **_wrapped(name + ".", getattr(C, name))) for name in "linalg fft random spatial io sparse".split())
for _name in "dot transpose tril triu vdot projection".split():
    setattr(linalg, _name, _core[_name])
_plain_qr = linalg.qr
linalg.solve, linalg.matmul = _of_vectors(linalg.solve), _of_vectors(linalg.matmul)
linalg.svd, linalg.qr, linalg.polar = _svd, _qr, _polar
io.load, io.save = load, save
supports_hdf5 = supports_zarr = io.supports_hdf5 = io.supports_zarr = lambda: True
utils = _module("utils", data=_module("data", spherical=_module("spherical", **_wrapped("datasets.", C.datasets)),
                                     matrixgallery=_module("matrixgallery", **_wrapped("datasets.", C.datasets))))
graph = _module("graph", Laplacian=C.graph.Laplacian)
for _name in "rand randn random random_sample ranf sample".split():
    setattr(random, _name, _of_shape(getattr(C.random, _name)))
random.randint = random.random_integer = _whole
random.seed, random.get_state, random.set_state = _seed, _get_state, _set_state
_here.__dict__.update(svd=_svd, qr=_qr, polar=_polar)
_core.update({name: each for name, each in linalg.__dict__.items() if name[0] != "_" and name not in ("diagonal", "cross", "trace")})
_core.update({name: each for name, each in io.__dict__.items() if name.startswith(("load", "save"))})
_here.__dict__.update({name: each for name, each in _core.items() if name not in _here.__dict__})
comm, Euler, e = MPI_WORLD, np.e, np.e
pi, inf, nan = np.pi, np.inf, np.nan
Inf = Infinity = Infty = inf
NaN, MPI_SELF = nan, MPICommunication(MPI.COMM_SELF)


# Methods and operators ---------------------------------------------------------------------------------------------------


def _in_place(function):
    """A method that changes the array, where the other operand's type can be converted to its own."""
    def call(self, *given, **named):
        for other in given:
            if isinstance(other, (DNDarray, builtins.float, builtins.complex)) and not can_cast(types.result_type(self, other), self.dtype, "same_kind"):
                raise TypeError(f"[{function.__name__}] got {types.heat_type_of(other).__name__}; expected what {self.dtype.__name__} holds")
            if isinstance(other, DNDarray) and other.split is not None and other.split + self.ndim - other.ndim != self.split:
                raise ValueError(f"[{function.__name__}] got an operand of split {other.split}; expected that of the array, {self.split}, as the array stays where it is")
        function(self._x, *map(_inside, given), **named)
        return self._written()
    return call


for _name in C._methods.split():
    if not hasattr(DNDarray, _name):
        _made = _in_place(getattr(C, _name)) if _name[-1] == "_" else _here.__dict__.get(_name)
        if callable(_made):
            setattr(DNDarray, _name, _made)
for _name in "allclose isclose atan2 norm save save_hdf5".split():
    setattr(DNDarray, _name, _here.__dict__[_name])
DNDarray.copy, DNDarray.fill_diagonal = lambda self: DNDarray(C.copy(self._x)), _in_place(C.fill_diagonal)
DNDarray.rot90 = lambda self, k=1, axis=(0, 1): _here.rot90(self, k, axis)
for _name, _called in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow", "and": "bitwise_and",
                       "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift", "divmod": "divmod", "matmul": "matmul"}.items():
    _f = _here.__dict__[_called]
    setattr(DNDarray, f"__{_name}__", lambda self, other, f=_f: f(self, other))
    setattr(DNDarray, f"__r{_name}__", lambda self, other, f=_f: f(other, self))
    if _name not in ("divmod", "matmul"):
        setattr(DNDarray, f"__i{_name}__", getattr(DNDarray, f"{_called}_"))
for _name in "eq ne lt le gt ge".split():
    setattr(DNDarray, f"__{_name}__", lambda self, other, f=_here.__dict__[_name]: f(self, other))
for _name, _called in {"neg": "neg", "pos": "pos", "abs": "abs", "invert": "invert"}.items():
    setattr(DNDarray, f"__{_name}__", lambda self, f=_here.__dict__[_called]: f(self))
DNDarray.__hash__ = object.__hash__

for _name, _classes in _parts.items():
    setattr(_here, _name, _module(_name, **_classes))
for _name in ("core communication factories dndarray arithmetics devices exponential indexing io_ logical manipulations memory printing relational rounding sanitation "
              "signal statistics stride_tricks tiling trigonometrics complex_math constants base").split():
    _here.__dict__[_name] = sys.modules[f"{__name__}.{_name}"] = _here
