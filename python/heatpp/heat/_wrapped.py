"""heatpp's functions with HeAT's parameters and promotions."""

import builtins
import functools
import inspect
import re
import warnings

import numpy as np
import torch

from .. import _api, _heatpp as C
from . import types
from ._arrays import DNDarray, _inside, _outside, _put, array, sanitize_in
from ._ranks import sanitize_axis, sanitize_device

_ours = {**{name: getattr(C, name) for name in dir(C)}, **{name: getattr(_api, name) for name in _api.__all__}}

# HeAT's parameters after the arrays, in its order, if they differ from heatpp's: heat=heatpp, ~ for hints on how to compute, which change no result,
# and name:value if heatpp has only that value.
_PARAMETERS = {
    "axis out keepdims": "sum prod nansum nanprod max min any all ptp",
    "axis ddof keepdims bessel correction=ddof": "var std",
    "axis keepdims ~sketched ~sketch_size": "median",
    "q axis out interpolation keepdims ~sketched ~sketch_size": "percentile",
    "min max out": "clip",
    "offset dim1=axis1 dim2=axis2": "diagonal",
    "b ~allow_resplit": "matmul linalg.matmul",
    "source=from destination=to": "moveaxis",
    "offset axis1 axis2 dtype out": "trace linalg.trace",
    "axis1=a axis2=b": "swapaxes",
    "reps=repeats": "tile",
    "out": "modf",
    "k dim=axis largest sorted out": "topk",
    "axis keepdims ord": "linalg.norm linalg.matrix_norm linalg.vector_norm",
    "mode ~procs_to_merge": "linalg.qr",
    "n_eigenvalues=rank n_oversamples=oversampling power_iter=power_iterations ~qr_procs_to_merge": "linalg.reigh",
    "svd_rank=rank n_oversamples=oversampling power_iter=power_iterations ~qr_procs_to_merge": "linalg.rsvd",
    "~r_max_zolopd ~silent": "linalg.eigh",
    "p:None algorithm:randomized ~params": "linalg.condest",
    "mean=loc std=scale shape dtype split device comm": "random.normal",
    "Y=y quadratic_expansion": "spatial.cdist",
    "Y=y ~expand": "spatial.manhattan",
    "Y=y sigma quadratic_expansion": "spatial.rbf",
}
_PARAMETERS = {name: line.split() for line, names in _PARAMETERS.items() for name in names.split()}
_FLOATING = set("""square acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh deg2rad degrees exp exp2 expm1 log log10 log1p log2
    rad2deg radians sin sinh sqrt tan tanh mean var std median percentile linalg.norm linalg.vector_norm linalg.matrix_norm fabs
    ceil floor trunc sgn conj conjugate angle""".split())
_SAME = set("cumsum cumprod cumproduct".split())  # results in the type of the array
_QUOTIENTS = set("divide div arctan2 atan2 logaddexp logaddexp2 hypot copysign".split())
BINARY = set("""add sub subtract mul multiply divide div floor_divide floordiv fmod mod remainder pow power bitwise_and bitwise_or bitwise_xor left_shift
    right_shift gcd lcm hypot copysign maximum minimum logaddexp logaddexp2 eq ne not_equal lt less le less_equal gt greater ge greater_equal logical_and
    logical_or logical_xor arctan2 atan2 isclose""".split())
_SPLIT_KEPT = set("roll linalg.inv".split())
_BALANCED = {"diag"}
_MASKED = {"div": "divide", "floordiv": "floor_divide", "mod": "remainder", "sub": "subtract", "mul": "multiply", "pow": "power"}  # these take out and where
_UNFIT = {"eq": False, "ne": True, "not_equal": True}  # the result for shapes that do not broadcast


def alike(arrays):
    """Returns arrays in the type that PyTorch has for all."""
    kind = functools.reduce(torch.promote_types, (each.dtype.torch_type() for each in arrays))
    return [each.astype(kind) if each.dtype.torch_type() != kind else each for each in arrays]


def _joined(name, arrays, *given):
    """Returns the arrays to join in one type: HeAT's common type, or PyTorch's for functions that make a new axis."""
    if name in ("column_stack", "row_stack") and isinstance(arrays, (list, tuple)):
        arrays = [array(each) if isinstance(each, np.ndarray) else each for each in arrays]
    if not isinstance(arrays, (list, tuple)) or not builtins.all(isinstance(each, DNDarray) for each in arrays):
        raise TypeError(f"[{name}] got {type(arrays).__name__}; expected a list or tuple of arrays")
    if len(arrays) < 1 + (name == "stack"):
        raise ValueError(f"[{name}] got {len(arrays)} arrays; expected more")
    if name == "hstack" and len({each.ndim for each in arrays}) > 1:  # vectors are columns beside matrices
        arrays = [DNDarray(C.expand_dims(each._x, 1)) if each.ndim == 1 else each for each in arrays]
    if name in ("stack", "column_stack", "row_stack"):
        return (alike(arrays), *given)
    kind = functools.reduce(types.promote_types, (each.dtype for each in arrays))
    return ([each if each.dtype is kind else each.astype(kind) for each in arrays], *given)


def _product(name, *given):
    """Returns two arrays in PyTorch's common type; for matrices, in HeAT's."""
    if len(given) < 2 or not isinstance(given[0], DNDarray) or not isinstance(given[1], DNDarray):
        return given
    kind = types.promote_types(given[0].dtype, given[1].dtype)
    return (*([each.astype(kind) for each in given[:2]] if "matmul" in name else alike(given[:2])), *given[2:])


def _numbered(name, x, numbers, *given):
    """Returns an array, and numbers that may be an array, too."""
    if isinstance(numbers, DNDarray) and numbers.split is not None:
        warnings.warn(f"[{name}] got an array of numbers that is split; it is gathered")
    numbers = numbers.tolist() if hasattr(numbers, "tolist") else numbers
    numbers = [numbers] if name == "tile" and isinstance(numbers, builtins.int) else numbers
    return (x if isinstance(x, DNDarray) or name not in ("tile", "repeat") else array(x), numbers, *given)


# Conversions of arguments. If HeAT passes them by name, they are then passed by place.
_PREPARED = {name: function for function, names in {
    _joined: "concatenate stack hstack vstack column_stack row_stack", _product: "matmul linalg.matmul dot vdot linalg.vecdot cross linalg.cross",
    _numbered: "tile repeat split hsplit vsplit dsplit"}.items() for name in names.split()}
_BY_PLACE = {"tile": "repeats", "repeat": "repeats", "matmul": "b", "linalg.matmul": "b"}


def floats(x):
    """Converts integers to the floats in which HeAT computes with them."""
    return x.astype(types.float64 if x.dtype is types.int64 else types.float32) if _is_whole(x) else x


def _is_whole(x):
    return isinstance(x, DNDarray) and types.heat_type_is_exact(x.dtype)


def _arrays_first(function):
    """Returns how many of the first arguments must be arrays or numbers."""
    array = r"\w+: (?:heatpp\._heatpp\.)?DNDarray(?![^,)]*list)[^,)]*[,)] ?"
    return max((found[0].count(":") for found in re.finditer(rf"(?<=^{function.__name__}\()(?:{array})+", function.__doc__ or "", re.M)), default=0)


def no_lists(name, given):
    """Throws for lists, because HeAT does not convert them to arrays."""
    wrong = next((each for each in given if isinstance(each, (list, tuple, builtins.range, np.ndarray, torch.Tensor))), None)
    if wrong is not None:
        raise TypeError(f"[{name}] got {type(wrong).__name__}; expected an array")


def _function(name, function, arrays):
    """Returns one of heatpp's functions with HeAT's interface."""
    known, floating = _PARAMETERS.get(name), name in _FLOATING
    names = known and [re.match(r"~?(\w+)", entry)[1] for entry in known]
    ours = known and {entry.partition("=")[0]: entry.rpartition("=")[2] for entry in known if entry[0] != "~" and ":" not in entry}
    alone = dict(entry.split(":") for entry in known or () if ":" in entry)
    first = 0 if known and names[0] == "mean" else 1

    @functools.wraps(function, assigned=("__doc__",), updated=())
    def call(*given, out=None, **named):
        if known:
            named.update(zip(names, given[first:]))
            given, out = given[:first], named.pop("out", out)
            wrong = next((each for each in named if each not in names), None)
            if wrong:
                raise TypeError(f"[{name}] got an argument {wrong!r}; expected one of {', '.join(names)}")
            if named.get("dtype") is not None:
                named["dtype"] = types.ours_of(named["dtype"])
            wrong = next((key for key, value in named.items() if key in alone and str(value) != alone[key]), None)
            if wrong:
                raise NotImplementedError(f"[{name}] got {wrong}={named[wrong]!r}; expected {alone[wrong]}")
            if "device" in names and "device" in named:
                named["device"] = sanitize_device(named["device"])
            named = {ours[key]: value for key, value in named.items() if key in ours and value is not None}
        if name in _PREPARED:
            given = _PREPARED[name](name, *given, *([named.pop(_BY_PLACE[name])] if _BY_PLACE.get(name) in named else []))
        no_lists(name, given[:arrays] if first else [named.get("loc"), named.get("scale")])
        if "bessel" in named:
            named["ddof"] = builtins.int(named.pop("bessel"))
        if given and isinstance(given[0], DNDarray) and "axis" in named:
            named["axis"] = sanitize_axis(given[0].shape, named["axis"])
        source = given[0] if given else None
        if floating:
            given = tuple(map(floats, given))
        elif name.startswith(("fft.", "spatial.")):
            given = tuple(each.astype(types.float32) if _is_whole(each) else each for each in given)
        if out is not None and not isinstance(out, tuple):
            sanitize_in(out)
        given = (*given[:1], *map(_inside, given[1:])) if given and isinstance(given[0], (torch.Tensor, np.ndarray)) else map(_inside, given)
        try:
            found = function(*given, **{key: _inside(value) for key, value in named.items() if value is not None or key == "axis"})
        except TypeError as error:  # the message names the known values
            if builtins.any(isinstance(named.get(key), str) for key in ("interpolation", "mode", "norm", "indexing")):
                raise ValueError(str(error)) from None
            raise
        found = _outside(found)
        if name in _SPLIT_KEPT and found.split != source.split:
            found.resplit_(source.split)
        if name in _SAME and named.get("dtype") is None:
            found = found.astype(source.dtype)
        if name in _BALANCED:
            found.balance_()
        return _put(found, out, broadcast=not known)

    call.__name__ = name.rpartition(".")[2]
    return call


def _binary(name, function):
    """Returns an elementwise function of two arrays, in HeAT's common type."""

    @functools.wraps(function, assigned=("__doc__",), updated=())
    def call(t1, t2, out=None, where=True, **options):
        for each in (t1, t2):
            if name in _UNFIT and not isinstance(each, (DNDarray, builtins.bool, builtins.int, builtins.float, builtins.complex, np.generic, np.ndarray, torch.Tensor, list)):
                return _UNFIT[name]
            if not isinstance(each, (DNDarray, builtins.bool, builtins.int, builtins.float, builtins.complex, np.generic)):
                if not isinstance(each, (np.ndarray, torch.Tensor, list)) or isinstance(each, list) and not isinstance(t1, DNDarray):
                    raise TypeError(f"[{name}] got {type(each).__name__}; expected arrays or numbers")
        t1, t2 = (each if isinstance(each, DNDarray) or np.isscalar(each) else array(each) for each in (t1, t2))
        kind = types.result_type(*(each.item() if isinstance(each, np.generic) else each for each in (t1, t2)))
        if name in _QUOTIENTS and types.heat_type_is_exact(kind):
            kind = types.float32
        one, two = (each._x.astype(types.ours_of(kind)) if isinstance(each, DNDarray) and each.dtype is not kind else _inside(each) for each in (t1, t2))
        if np.isscalar(one) and np.isscalar(two):
            one = C.array(one, dtype=types.ours_of(kind))
        try:
            if where is True:
                return _put(DNDarray(function(one, two, **options)), out)
            found = function(one, two) if out is None else None
            masked = getattr(C, _MASKED.get(name, name))
            base = C.empty(found.shape, dtype=found.dtype, split=found.split, device=found.device, comm=found.comm) if out is None else out._x
            made = masked(one, two, out=base, where=_inside(where))
            return DNDarray(made) if out is None else out._written()
        except ValueError:
            if name in _UNFIT:
                return _UNFIT[name]
            raise

    call.__name__ = name
    return call


def wrapped(space, module):
    """Returns all functions of a module of heatpp."""
    made = {}
    for name in dir(module):
        function = _ours.get(name) if not space else getattr(module, name)
        if name[0] != "_" and callable(function) and not inspect.isclass(function):
            made[name] = _binary(name, function) if not space and name in BINARY else _function(space + name, function, _arrays_first(getattr(module, name)))
    return made


core = wrapped("", C)
