"""Functions whose arguments have another order or form in NumPy than in C++."""

import builtins

from . import _heatpp as C
from ._spellings import named_after


def _given(**options):
    return {name: value for name, value in options.items() if value is not None}


def pad(x, /, widths, mode="constant", *, value=0, **options):
    """Pads `x`. Widths and values are a number, (before, after), or such a pair for each axis. See the C++ function."""
    if isinstance(value, (list, tuple)):
        options["values"] = [value] if not isinstance(value[0], (list, tuple)) else value
    else:
        options["value"] = value
    pairs = [(widths, widths)] if isinstance(widths, int) else [tuple(widths)] if isinstance(widths[0], int) else widths
    return C.pad(x, pairs, mode=mode, **options)


def _of_dtype(arrays, dtype):
    return arrays if dtype is None else [each.astype(dtype) if isinstance(each, C.DNDarray) else C.array(each, dtype) for each in arrays]


def _joined(function):
    @named_after(function)
    def join(arrays, /, axis=0, *, dtype=None):
        return function(_of_dtype(arrays, dtype), axis)
    return join


def _stacked(function):
    @named_after(function)
    def stack(arrays, /, *, dtype=None):
        return function(_of_dtype(arrays, dtype))
    return stack


concatenate, concat, stack = (_joined(getattr(C, name)) for name in ("concatenate", "concat", "stack"))
hstack, vstack = _stacked(C.hstack), _stacked(C.vstack)


def arange(start=0, stop=None, step=1, dtype=None, split=None, device=None, comm=None, *, grid=None):
    """Returns numbers from `start` in steps of `step`, up to but without `stop`; with one number, or if `stop` is None, from 0 on. See the C++ function."""
    first, end = (0, start) if stop is None else (start, stop)
    return C.arange(first, end, step, dtype=dtype, **_given(split=split, device=device, comm=comm, grid=grid))


def linspace(start, stop, /, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, split=None, device=None, comm=None, grid=None):
    """Returns evenly spaced numbers, with their distance if retstep is true. See the C++ function."""
    options = _given(split=split, device=device, comm=comm, grid=grid)
    if isinstance(start, (C.DNDarray, list, tuple)) or isinstance(stop, (C.DNDarray, list, tuple)):
        options["axis"] = axis
    found = C.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, **options)
    gaps = num - endpoint
    return (found, (stop - start) / gaps if gaps > 0 else builtins.float("nan")) if retstep else found


def delete(x, obj, axis=None):
    """Returns the array without some positions (a number, several, or a slice) along an axis or of the flattened array. See the C++ function."""
    return C.delete(x, range(*obj.indices(x.size if axis is None else x.shape[axis])) if isinstance(obj, slice) else obj, axis)


def fromfunction(function, shape, *, dtype=None, **options):
    """Returns the value of the function at the positions along each axis, which are floats. See the C++ function."""
    return C.fromfunction(lambda positions: function(*positions), shape, dtype=dtype or C.get_default_dtype(), **options)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Returns the cross products of vectors along an axis, which may differ between the arrays. See the C++ function."""
    return C.cross(a, b, *(axisa, axisb, axisc) if axis is None else (axis,) * 3)


def size(x, axis=None):
    """Returns the number of elements of an array, or its extent along an axis. Local."""
    return C.size(x) if axis is None else C.shape(x)[axis]


def ediff1d(x, to_end=(), to_begin=()):
    """Returns the differences of neighbors, between given numbers. See the C++ function."""
    begin, end = (each if isinstance(each, (list, tuple)) else [] if each is None else [each] for each in (to_begin, to_end))
    return C.ediff1d(x, begin, end)


def isin(x, test, assume_unique=False, invert=False):
    """Whether each element is among those of `test`. See the C++ function."""
    return C.isin(x, test, invert=invert, assume_unique=assume_unique)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Returns the integral along an axis, of values at x or at a distance of dx. See the C++ function."""
    return C.trapezoid(y, axis=axis, dx=dx, x=x)


def unwrap(x, discont=None, axis=-1, *, period=None):
    """Removes jumps by multiples of the period that are larger than discont. See the C++ function."""
    return C.unwrap(x, axis=axis, **_given(discont=discont, period=period))


def interp(x, /, xp, fp=None, **options):
    """Interpolates between the points xp, fp, which may be given as one pair. See the C++ function."""
    return C.interp(x, xp if fp is None else (xp, fp), **options)


def gradient(x, /, *distances, axis=None, spacing=(), **options):
    """Returns the derivative along an axis, or along each of several, with NumPy's arguments. See the C++ functions."""
    spacing = list(distances) or (list(spacing) if isinstance(spacing, (list, tuple)) else [spacing])
    found = C.gradients(x, axis=axis, spacing=spacing, **options)
    return found[0] if isinstance(axis, int) or axis is None and x.ndim == 1 else found


def histogram(x, /, bins=10, range=None, **options):
    """Returns the number of elements in each bin, and the edges. `bins` is a number or the edges. See the C++ function."""
    known = {"rule" if isinstance(bins, str) else "bins" if isinstance(bins, int) else "edges": bins}
    return C.histogram(x, range=range, **{**known, **options})


def piecewise(x, condlist, funclist, *args, **options):
    """Returns the value of the number or function of the last true condition; one more is the default. See the C++ function.

    A list of truth values is one condition, as in NumPy. `args` and `options` go to the functions."""
    if not isinstance(condlist, (list, tuple)) or (x.ndim > 0 and condlist and not hasattr(condlist[0], "__len__")):
        condlist = [condlist]
    conditions = [each if isinstance(each, C.DNDarray) else C.array(each) for each in condlist]
    return C.piecewise(x, conditions, [(lambda part, piece=piece: piece(part, *args, **options)) if callable(piece) else piece
                                       for piece in funclist])


def _with_one_nan(found):
    """Returns the result of unique_all, with one element for all NaN, at the end."""
    last = len(found.values) - int(C.sum(C.isnan(found.values)))
    if last >= len(found.values) - 1:
        return found
    indices, counts = C.copy(found.indices[:last + 1]), C.copy(found.counts[:last + 1])
    indices[last], counts[last] = C.min(found.indices[last:]), C.sum(found.counts[last:])
    return found._replace(values=C.copy(found.values[:last + 1]), indices=indices, inverse_indices=C.minimum(found.inverse_indices, last), counts=counts)


def unique(x, /, axis=None, *, equal_nan=True, return_index=False, return_inverse=False, return_counts=False):
    """Returns the distinct elements in increasing order, and the requested extra results."""
    if isinstance(axis, bool):  # NumPy's second argument
        axis, return_index = None, axis
    asked = {"indices": return_index, "inverse_indices": return_inverse, "counts": return_counts}
    if not builtins.any(asked.values()):
        return C.unique(x, axis=axis, equal_nan=equal_nan)
    found = C.unique_all(x) if axis is None else C.unique_all(x, axis)
    if equal_nan and axis is None and found.values.dtype.kind in "fc":
        found = _with_one_nan(found)
    return (found.values, *(getattr(found, name) for name, wanted in asked.items() if wanted))


__all__ = ["arange", "pad", "concatenate", "concat", "stack", "hstack", "vstack", "linspace", "delete", "fromfunction", "cross", "size", "ediff1d", "isin", "trapezoid", "unwrap", "interp", "gradient", "histogram", "piecewise", "unique"]
