"""heatpp's functions with HeAT's parameters and promotions."""

import builtins
import functools
import inspect

import numpy as np
import torch

from .. import _api, _heatpp as C
from . import types
from ._arrays import DNDarray, _inside, _outside, _put, array, sanitize_axis, sanitize_in

_ours = {**{name: getattr(C, name) for name in dir(C)}, **{name: getattr(_api, name) for name in _api.__all__}}

# HeAT's parameters after the arrays, in its order, where they differ from heatpp's: heat=heatpp, and - for what heatpp does without.
_PARAMETERS = {
    "axis out keepdims": "sum prod nansum nanprod max min any all ptp",
    "axis ddof keepdims bessel": "var std",
    "axis keepdims -sketched -sketch_size": "median",
    "q axis out interpolation keepdims -sketched -sketch_size": "percentile",
    "boundaries -out_int32 right out": "bucketize",
    "min max out": "clip",
    "target_rank=rank": "collect",
    "offset dim1=axis1 dim2=axis2": "diagonal",
    "shape dtype split device comm -order": "empty zeros ones",
    "fill_value dtype split device comm -order": "full_like",
    "dtype split device comm -order": "empty_like zeros_like ones_like",
    "b -allow_resplit": "matmul linalg.matmul",
    "source=from destination=to": "moveaxis",
    "pad_width=widths mode constant_values=value": "pad",
    "offset axis1 axis2 dtype out": "trace linalg.trace",
    "axis1=a axis2=b": "swapaxes",
    "reps=repeats": "tile",
    "k dim=axis largest sorted out": "topk",
    "axis keepdims ord": "linalg.norm linalg.matrix_norm linalg.vector_norm",
    "mode -procs_to_merge": "linalg.qr",
    "n_eigenvalues=rank n_oversamples=oversampling power_iter=power_iterations -qr_procs_to_merge": "linalg.reigh",
    "svd_rank=rank n_oversamples=oversampling power_iter=power_iterations -qr_procs_to_merge": "linalg.rsvd",
    "-r_max_zolopd -silent": "linalg.eigh",
    "-p -algorithm -params": "linalg.condest",
    "b out -split": "linalg.outer",
    "mean=loc std=scale shape dtype split device comm": "random.normal",
    "Y=y quadratic_expansion": "spatial.cdist",
    "Y=y -expand": "spatial.manhattan",
    "Y=y sigma quadratic_expansion": "spatial.rbf",
    "dataset dtype slices split device comm": "io.load_hdf5",
    "variable=name split device comm slices": "io.load_zarr",
    "header_lines sep=delimiter dtype -encoding split device comm": "io.load_csv",
    "path header_lines=header sep=delimiter decimals -encoding -comm -truncate": "io.save_csv",
    "path overwrite": "io.save_zarr",
}
_PARAMETERS = {name: line.split() for line, names in _PARAMETERS.items() for name in names.split()}
_FLOATING = set("""acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh deg2rad degrees exp exp2 expm1 log log10 log1p log2
    rad2deg radians sin sinh sqrt tan tanh mean var std median percentile linalg.norm linalg.vector_norm linalg.matrix_norm fabs""".split())
_QUOTIENTS = set("divide div arctan2 atan2 logaddexp logaddexp2 hypot copysign".split())
_BINARY = set("""add sub subtract mul multiply divide div floor_divide floordiv fmod mod remainder pow power bitwise_and bitwise_or bitwise_xor left_shift
    right_shift gcd lcm hypot copysign maximum minimum logaddexp logaddexp2 eq ne not_equal lt less le less_equal gt greater ge greater_equal logical_and
    logical_or logical_xor arctan2 atan2 isclose""".split())
_MASKED = {"div": "divide", "floordiv": "floor_divide", "mod": "remainder", "sub": "subtract", "mul": "multiply", "pow": "power"}  # which take out and where
_UNFIT = {"eq": False, "ne": True, "not_equal": True}  # of shapes that do not broadcast


def _floats(x):
    """Whole numbers as the floats in which HeAT computes with them."""
    whole = isinstance(x, DNDarray) and types.heat_type_is_exact(x.dtype)
    return x.astype(types.float64 if x.dtype is types.int64 else types.float32) if whole else x


def _function(name, function):
    """One of heatpp's functions as HeAT has it."""
    known, floating = _PARAMETERS.get(name), name in _FLOATING
    names = known and [entry.lstrip("-").partition("=")[0] for entry in known]
    ours = known and {entry.partition("=")[0]: entry.rpartition("=")[2] for entry in known if entry[0] != "-"}
    first = 0 if known and names[0] in ("shape", "mean") else 1

    @functools.wraps(function, assigned=("__doc__",), updated=())
    def call(*given, out=None, **named):
        if known:
            named.update(zip(names, given[first:]))
            given, out = given[:first], named.pop("out", out)
            wrong = next((each for each in named if each not in names), None)
            if wrong:
                raise TypeError(f"[{name}] got an argument {wrong!r}; expected one of {', '.join(names)}")
            named = {ours[key]: value for key, value in named.items() if key in ours and value is not None}
        if "bessel" in named:
            named["ddof"] = builtins.int(named.pop("bessel"))
        if given and isinstance(given[0], DNDarray) and "axis" in named:
            named["axis"] = sanitize_axis(given[0].shape, named["axis"])
        if floating:
            given = tuple(map(_floats, given))
        if out is not None and not isinstance(out, tuple):
            sanitize_in(out)
        given = (*given[:1], *map(_inside, given[1:])) if given and isinstance(given[0], (torch.Tensor, np.ndarray)) else map(_inside, given)
        try:
            found = function(*given, **{key: _inside(value) for key, value in named.items() if value is not None or key == "axis"})
        except TypeError as error:  # which texts are known stands in the message
            if builtins.any(isinstance(named.get(key), str) for key in ("interpolation", "mode", "norm", "indexing")):
                raise ValueError(str(error)) from None
            raise
        return _put(_outside(found), out)

    call.__name__ = name.rpartition(".")[2]
    return call


def _binary(name, function):
    """An elementwise function of two, in the type that HeAT has for both."""

    @functools.wraps(function, assigned=("__doc__",), updated=())
    def call(t1, t2, out=None, where=True, **options):
        for each in (t1, t2):
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
            base = C.empty(found.shape, dtype=found.dtype, split=found.split) if out is None else out._x
            made = masked(one, two, out=base, where=_inside(where))
            return DNDarray(made) if out is None else out._set(made)
        except ValueError:
            if name in _UNFIT:
                return _UNFIT[name]
            raise

    call.__name__ = name
    return call


def _wrapped(space, module):
    """All functions of a part of heatpp."""
    made = {}
    for name in dir(module):
        function = _ours.get(name) if not space else getattr(module, name)
        if name[0] != "_" and callable(function) and not inspect.isclass(function):
            made[name] = (_binary if not space and name in _BINARY else _function)(space + name, function)
    return made
