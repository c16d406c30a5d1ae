"""Functions that sort, find and select elements, with HeAT's arguments and results."""

import builtins
import warnings

from .. import _heatpp as C
from . import _rules, types
from ._arrays import DNDarray, _inside, _put, sanitize_in
from ._ranks import sanitize_axis


def nonzero(x, as_tuple=None):
    """Returns the positions of nonzero elements: one array for each axis, or a matrix with one row for each element. With the rules of 1.8 it is
    the matrix, a vector for one axis, unless as_tuple is given."""
    sanitize_in(x)
    if not _rules.old() if as_tuple is None else as_tuple:
        return tuple(DNDarray(each if x.is_distributed() else C.resplit(each, None)) for each in C.nonzero(x._x))
    found = C.argwhere(x._x)
    return DNDarray(C.reshape(found, (-1,)) if x.ndim == 1 and as_tuple is None else found)


def where(cond, x=None, y=None):
    """Returns x if the condition is true and y otherwise, or the positions where it is true."""
    if x is None and y is None:
        return nonzero(cond)
    kind = types.promote_types(*(each.dtype if isinstance(each, DNDarray) else types.heat_type_of(each) for each in (x, y)))  # numbers count, too
    x, y = (each.astype(kind) if isinstance(each, DNDarray) else each for each in (x, y))
    return DNDarray(C.where(C.not_equal(cond._x, 0), _inside(x), _inside(y)).astype(types.ours_of(kind)))


def _positions(x, axis, descending):
    """Returns the positions that sort an array of heatpp, as int32 if it can hold them."""
    found = C.argsort(x, axis, descending)
    return DNDarray(found if found.shape[axis] > 2**31 else found.astype(C.int32))


def _ignored(name, given, named):
    """Warns of arguments without effect, which HeAT 1.9 takes for the sake of the array API and NumPy."""
    for each in (*map(repr, given), *named):
        warnings.warn(f"[{name}] got {each}, which has no effect; expected axis, and descending by its name")


def sort(a, axis=-1, *given, descending=False, out=None, return_sort_indices=False, **named):
    """Returns the sorted elements, on request with their former positions, and only these with `out`. With the rules of 1.8 the positions are
    always returned, and descending and out may be given by place."""
    sanitize_in(a)
    if _rules.old():
        if builtins.len(given) > 2 or named:
            raise TypeError(f"[sort] got {builtins.len(given) + 2} arguments, {', '.join(named) or 'none'} by name; expected a, axis, descending and out")
        descending, out = (*given, descending, out)[:2] if builtins.len(given) != 1 else (given[0], out)
    else:
        _ignored("sort", given, named)
    axis = sanitize_axis(a.shape, axis)
    x, axis = (C.ravel(a._x), 0) if axis is None else (a._x, axis)
    values, wanted = DNDarray(C.sort(x, axis, builtins.bool(descending))), _rules.old() or return_sort_indices
    positions = _positions(x, axis, builtins.bool(descending)) if wanted else None
    if out is not None:
        _put(values, out)
        return positions
    return (values, positions) if wanted else values


def argsort(a, axis=-1, *given, descending=False, **named):
    """Returns the positions of the elements in sorted order; equal elements keep their order."""
    sanitize_in(a)
    _ignored("argsort", given, named)
    axis = sanitize_axis(a.shape, axis)
    return _positions(*((C.ravel(a._x), 0) if axis is None else (a._x, axis)), builtins.bool(descending))


def sort_complex(a, axis=-1, descending=False, resplit_result=True, return_sort_indices=False):
    """Returns complex numbers sorted by their real, then their imaginary parts, on request with their former positions, in the array's split."""
    sanitize_in(a)
    if not types.heat_type_is_complexfloating(a.dtype):
        raise ValueError(f"[sort_complex] got {a.dtype.__name__}; expected complex numbers")
    axis = sanitize_axis(a.shape, axis)
    values = DNDarray(C.sort(a._x, axis, descending))
    return (values, DNDarray(C.argsort(a._x, axis, descending))) if return_sort_indices else values


def vectorized_sort(a, axis=-1, descending=False, resplit_result=True, return_sort_indices_instead=False, stable=True):
    """Returns the slices along an axis in the order of their elements, of which the first counts most, in the array's split; or the positions that sort
    them. Equal slices keep their order."""
    sanitize_in(a)
    if a.ndim == 0:
        raise ValueError("[vectorized_sort] got an array without axes; expected at least one")
    axis = sanitize_axis(a.shape, axis)
    slices = C.reshape(C.moveaxis(a._x, axis, 0), (a.shape[axis], a.size // builtins.max(a.shape[axis], 1)))
    order = C.resplit(C.argsort(C.unique_all(slices, 0).inverse_indices, 0, descending), None)
    return DNDarray(order if return_sort_indices_instead else C.resplit(C.take(a._x, order, axis), a.split))


def take(a, indices, axis=None):
    """Returns the parts at positions along an axis, or elements of the flattened array, in the array's split if the axes are the same."""
    sanitize_in(a)
    found = C.take(a._x, C.array(indices) if isinstance(indices, (builtins.int, list, tuple, builtins.range)) else _inside(indices), sanitize_axis(a.shape, axis))
    return DNDarray(C.balance(C.resplit(found, a.split)) if found.ndim == a.ndim else found)


def unique(a, sorted=False, return_inverse=False, axis=None):
    """Returns the distinct elements, or parts along an axis, and on request the position of each among them."""
    sanitize_in(a)
    found = DNDarray(C.unique(a._x, axis))
    if not return_inverse:
        return found
    return found, DNDarray(C.unique_inverse(a._x).inverse_indices if axis is None else C.unique_all(a._x, axis).inverse_indices)
