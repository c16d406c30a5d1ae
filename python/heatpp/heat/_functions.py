"""Functions whose results or arguments differ in HeAT."""

import builtins
import warnings

import numpy as np
import torch

from .. import _heatpp as C
from . import _rules, types
from ._arrays import DNDarray, _inside, _outside, _put, array, redistributed, sanitize_in
from ._ranks import MPI_WORLD, sanitize_axis, sanitize_comm, together
from ._wrapped import core, floats


def equal(x, y):
    """Whether two arrays are equal. An array with one element equals an array whose elements all equal it."""
    x, y = (each if isinstance(each, DNDarray) else array(each) for each in (x, y))
    if x.size == y.size == 1:
        return builtins.bool(C.eq(C.reshape(x._x, ()), C.reshape(y._x, ())).item())
    if x.shape == y.shape and x._x.comm != y._x.comm:
        raise NotImplementedError("[equal] got arrays on different communicators; expected the same")
    return x.shape == y.shape and C.array_equal(x._x, y._x)


def resplit(arr, axis=None):
    """Returns a copy with another split axis."""
    sanitize_in(arr)
    return DNDarray(C.copy(C.resplit(arr._x, sanitize_axis(arr.shape, axis))))


def redistribute(arr, lshape_map=None, target_map=None):
    """Returns a copy with the blocks of the map."""
    return DNDarray(redistributed(arr, lshape_map, target_map))


def balance(array, copy=False):
    """Returns an array with an even split."""
    return DNDarray(C.balance(array._x)) if copy else array._set(C.balance(array._x))


def collect(arr, target_rank=0):
    """Returns a copy with all elements on one rank."""
    sanitize_in(arr)
    return DNDarray(C.copy(arr._x)).collect_(target_rank)


def reshape(a, *extents, shape=None, new_split=None, dtype=None):
    """Returns another shape, with the same split if the number of axes is equal, otherwise split along the first axis."""
    sanitize_in(a)
    shape = shape if shape is not None else extents[0] if builtins.len(extents) == 1 else extents
    found = C.reshape(a._x if dtype is None else a.astype(dtype)._x, shape.tolist() if hasattr(shape, "tolist") else shape)
    new_split = a.split if new_split is None and found.ndim == a.ndim else 0 if new_split is None and a.split is not None else new_split
    return DNDarray(C.resplit(found, sanitize_axis(tuple(found.shape), new_split)))


def round(x, decimals=0, out=None, dtype=None):
    """Rounds to this many decimals."""
    sanitize_in(x)
    numbers = floats(x)._x
    found = DNDarray(C.around(numbers, decimals) if decimals else C.rint(numbers))
    return _put(found if dtype is None else found.astype(dtype), out)


def bucketize(input, boundaries, out_int32=False, right=False, out=None):
    """Returns the interval of each element."""
    sanitize_in(input)
    found = DNDarray(C.bucketize(input._x, _inside(boundaries), right=right))
    return _put(found.astype(types.int32) if out_int32 else found, out)


def histc(input, bins=100, min=0, max=0, out=None):
    """Returns the number of elements in each bin."""
    sanitize_in(input)
    return _put(DNDarray(C.histc(input._x, bins, min, max)), out)


def histogram(a, bins=10, range=(0, 0), normed=None, weights=None, density=None):
    """Returns the number of elements in each bin."""
    if not isinstance(bins, builtins.int) or normed or density or weights is not None:
        raise NotImplementedError("[histogram] got bins by their edges or name, weights, normed or density; expected a number of bins")
    return histc(a, bins, *range)


def abs(x, out=None, dtype=None):
    """Returns absolute values."""
    sanitize_in(x)
    if dtype is not None and not (builtins.isinstance(dtype, type) and issubclass(dtype, types.datatype)):
        raise TypeError(f"[abs] got dtype {dtype!r}; expected a type of HeAT's")
    found = DNDarray(C.abs(x._x))
    return _put(found if dtype is None else found.astype(dtype), out)


absolute = abs


def sign(x, out=None):
    """Returns -1, 0 or 1. For a complex number, it is the sign of the real part, or of the imaginary part if the real part is 0."""
    sanitize_in(x)
    if not types.heat_type_is_complexfloating(x.dtype):
        return _put(DNDarray(C.sign(floats(x)._x)), out)
    real, imag = C.sign(x._x.real), C.sign(x._x.imag)
    return _put(DNDarray(C.where(C.eq(real, 0), imag, real).astype(x._x.dtype)), out)


def _of_all(function):
    """Returns a function that gives the position along an axis, or without an axis, the position among all elements."""
    def call(x, axis=None, out=None, keepdims=False):
        sanitize_in(x)
        found = DNDarray(function(x._x, sanitize_axis(x.shape, axis), keepdims=keepdims))
        return _put(reshape(found, (1,)) if axis is None and not keepdims else found, out)
    return call


argmax, argmin = _of_all(C.argmax), _of_all(C.argmin)


def _moment(name, x, axis, factor):
    """Returns a moment over all elements as a number, or along an axis, after factor(moment, number of elements)."""
    x = floats(x)
    sanitize_in(x)
    axis = sanitize_axis(x.shape, axis)
    found = factor(getattr(C, name)(x._x, axis=axis), x.size if axis is None else x.shape[axis])
    return found.item() if axis is None else DNDarray(found)


def skew(x, axis=None, unbiased=True):
    """Returns the skewness, by default without bias."""
    return _moment("skew", x, axis, lambda found, n: C.multiply(found, (n * (n - 1)) ** 0.5 / (n - 2)) if unbiased else found)


def kurtosis(x, axis=None, unbiased=True, fischer=True, **former):
    """Returns the kurtosis, by default without bias, and less 3 unless fischer is false. With the rules of 1.8 that argument is Fischer."""
    fischer = former.pop("Fischer", fischer) if _rules.old() else fischer
    if former:
        raise TypeError(f"[kurtosis] got an argument {next(iter(former))!r}; expected axis, unbiased or fischer, which 1.8 calls Fischer")

    def factor(found, n):
        found = C.multiply(C.add(C.multiply(found, n + 1), 6), (n - 1) / ((n - 2) * (n - 3))) if unbiased else found
        return found if fischer else C.add(found, 3)
    return _moment("kurtosis", x, axis, factor)


def pad(array, pad_width, mode="constant", constant_values=0):
    """Pads with numbers along axes; if there are fewer widths than axes, along the last axes."""
    sanitize_in(array)
    pad_width = (pad_width,) if isinstance(pad_width, builtins.int) else pad_width
    widths = [pad_width] if builtins.all(isinstance(each, builtins.int) for each in pad_width) else [*pad_width]
    widths = [tuple(each) * (2 if builtins.len(each) == 1 else 1) for each in widths]
    whole = widths * array.ndim if builtins.len(widths) == 1 else [(0, 0)] * (array.ndim - builtins.len(widths)) + widths
    if isinstance(constant_values, (tuple, list)):
        values = [constant_values] if np.isscalar(constant_values[0]) else constant_values
        values = [tuple(each) * (2 if builtins.len(each) == 1 else 1) for each in values]
        values = [values[0]] * array.ndim if builtins.len(values) == 1 else [(0, 0)] * (array.ndim - builtins.len(values)) + values
        return DNDarray(C.pad(array._x, whole, mode=mode, values=values))
    return DNDarray(C.pad(array._x, whole, mode=mode, value=constant_values))


def broadcast_shapes(*shapes):
    """Returns the shape to which several shapes broadcast."""
    return tuple(C.broadcast_shapes([*shapes]))


def sanitize_slice(sl, max_dim):
    """Returns a slice without open and negative ends."""
    if not isinstance(sl, slice):
        raise TypeError(f"[sanitize_slice] got {type(sl).__name__}; expected a slice")
    ends = [default if end is None else end for end, default in ((sl.start, 0), (sl.stop, max_dim))]
    return slice(*(end + max_dim if end < 0 else end for end in ends), sl.step or 1)


def broadcast_arrays(*arrays):
    """Returns arrays of one common shape, in a tuple; with the rules of 1.8 in a list."""
    found = core["broadcast_arrays"](*arrays)
    return [*found] if _rules.old() else found


def var(x, axis=None, *given, **named):
    """Returns the variance. The number of lost degrees of freedom is correction, in 1.8 ddof."""
    if "ddof" in named and not _rules.old():
        warnings.warn("[var] got ddof, which HeAT 1.9 calls correction; expected correction")
    return core["var"](x, axis, *given, **named)


def std(x, axis=None, *given, **named):
    """Returns the standard deviation; over all elements it is a number."""
    found = core["std"](x, axis, *given, **named)
    return found.item() if axis is None else found


def bincount(x, weights=None, minlength=0):
    """Returns how often each number occurs, or the sums of its weights in their type."""
    found = core["bincount"](x, weights=weights, minlength=minlength)
    return found.astype(weights.dtype) if weights is not None and types.heat_type_is_realfloating(weights.dtype) else found


def isclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements are nearly equal."""
    found = core["isclose"](x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return found.item() if np.isscalar(x) and np.isscalar(y) else found


def average(x, axis=None, weights=None, returned=False):
    """Returns the weighted mean, with the sum of weights on request."""
    sanitize_in(x)
    function = C.average_returned if returned else C.average
    return _outside(function(floats(x)._x, axis=axis, weights=_inside(weights)))


_INTUITIVE = {(types.int16, types.float16), (types.int32, types.float32), (types.int32, types.complex64)}  # the second type counts as holding the first, although it does not


def can_cast(from_, to, casting="intuitive"):
    """Whether a type can be converted to another."""
    kinds = [types.heat_type_of(from_) if isinstance(from_, (DNDarray, np.ndarray, torch.Tensor, builtins.bool, builtins.int, builtins.float, builtins.complex)) else types.canonical_heat_type(from_),
             types.canonical_heat_type(to)]
    if not isinstance(casting, str):
        raise TypeError(f"[can_cast] got {casting!r}; expected no, safe, same_kind, unsafe or intuitive")
    if casting not in ("no", "safe", "same_kind", "unsafe", "intuitive"):
        raise ValueError(f"[can_cast] got {casting!r}; expected no, safe, same_kind, unsafe or intuitive")
    if casting in ("no", "unsafe", "same_kind"):
        return kinds[0] is kinds[1] or casting == "unsafe" or casting == "same_kind" and types.same_kind(*kinds)
    return types.promote_types(*kinds) is kinds[1] and (casting == "intuitive" or tuple(kinds) not in _INTUITIVE)


def print0(*args, **kwargs):
    """Prints on rank 0."""
    if MPI_WORLD.rank == 0:
        print(*args, **kwargs)


def vmap(func, out_dims=0, randomness="error", *, chunk_size=None):
    """Applies a function of tensors to each part along the split axes of arrays, as torch.vmap does."""
    if not callable(func) or chunk_size is not None and not isinstance(chunk_size, builtins.int):
        raise TypeError(f"[vmap] got {func!r} and chunk_size {chunk_size!r}; expected a function and a whole number")
    if randomness not in ("error", "different", "same") or chunk_size is not None and chunk_size < 1:
        raise ValueError(f"[vmap] got randomness {randomness!r} and chunk_size {chunk_size}; expected error, different or same and a positive number")

    def call(*args, **kwargs):
        """Collective: if one rank throws, all ranks throw."""
        for each in args:
            sanitize_in(each)
        comm = sanitize_comm(args[0].comm if args else None)
        dims = (out_dims,) if isinstance(out_dims, builtins.int) else tuple(out_dims)
        mapped = torch.vmap(lambda *given: func(*given, **kwargs), tuple(each.split for each in args), out_dims, randomness=randomness, chunk_size=chunk_size)
        found = together(comm, mapped, *(each.larray for each in args))
        found = found if isinstance(found, tuple) else (found,)
        return tuple(array(each.contiguous(), is_split=dim, comm=comm) for each, dim in zip(found, dims * (builtins.len(found) if builtins.len(dims) == 1 else 1)))
    return call
