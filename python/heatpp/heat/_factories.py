"""Functions that create arrays, with HeAT's defaults."""

import builtins
import numbers

from .. import _heatpp as C
from .._spellings import named_after
from . import _rules, types
from ._arrays import DNDarray, laid
from ._ranks import sanitize_comm, sanitize_device


def created(function, *given, dtype, split=None, device=None, comm=None, order="C"):
    """Creates an array with one of heatpp's functions from HeAT's options."""
    return laid(DNDarray(function(*given, dtype=types.ours_of(dtype), split=split, device=str(sanitize_device(device)), comm=sanitize_comm(comm).ours)), order)


def arange(start, /, stop=None, step=1, *, dtype=None, split=None, device=None, comm=None):
    """Returns evenly spaced numbers: int64, with the rules of 1.8 int32, and float32 if an argument is a float."""
    given = (0, start, step) if stop is None else (start, stop, step)
    if not builtins.all(isinstance(each, numbers.Real) for each in given):
        raise TypeError(f"[arange] got {', '.join(map(repr, given))}; expected numbers")
    whole = builtins.all(isinstance(each, numbers.Integral) for each in given)
    kind = types.int64 if whole else types.float32 if dtype is None else types.float64
    found = created(C.arange, *given, dtype=kind, split=split, device=device, comm=comm)
    dtype = types.int32 if dtype is None and whole and _rules.old() else dtype
    return found if dtype is None else found.astype(dtype)


def _of_shape(function):
    @named_after(function)
    def call(shape, dtype=types.float32, split=None, device=None, comm=None, order="C"):
        return created(function, shape, dtype=dtype, split=split, device=device, comm=comm, order=order)
    return call


empty, zeros, ones = _of_shape(C.empty), _of_shape(C.zeros), _of_shape(C.ones)


def eye(shape, dtype=types.float32, split=None, device=None, comm=None, order="C"):
    """Returns ones on the diagonal and zeros elsewhere."""
    rows, columns = (shape if isinstance(shape, (tuple, list)) else (shape,)) * (1 if isinstance(shape, (tuple, list)) and len(shape) == 2 else 2)
    return created(C.eye, rows, columns, dtype=dtype, split=split, device=device, comm=comm, order=order)


def full(shape, fill_value, dtype=types.float32, split=None, device=None, comm=None, order="C"):
    """Returns an array filled with one number."""
    number = fill_value.item() if isinstance(fill_value, DNDarray) else fill_value
    if isinstance(number, builtins.complex) and not types.heat_type_is_complexfloating(dtype):
        dtype = types.complex64
    return created(C.full, shape, number, dtype=dtype, split=split, device=device, comm=comm, order=order)


def _like(function):
    """Returns a function that takes shape, type and split from an array, or the length from another object."""
    def like(a, dtype=None, split=None, device=None, comm=None, order="C"):
        known = isinstance(a, DNDarray)
        shape = a.shape if known else (builtins.len(a),) if hasattr(a, "__len__") else (1,)
        kind = types.float32 if isinstance(a, str) else types.heat_type_of(a)
        return created(function, shape, dtype=kind if dtype is None else dtype, split=a.split if known and split is None else split,
                     device=a.device if known and device is None else device, comm=a.comm if known and comm is None else comm, order=order)
    return like


empty_like, zeros_like, ones_like = _like(C.empty), _like(C.zeros), _like(C.ones)


def full_like(a, fill_value, dtype=types.float32, split=None, device=None, comm=None, order="C"):
    """Returns an array like `a`, filled with one number."""
    def filled(shape, **options):
        return C.full(shape, fill_value, **options)
    return _like(filled)(a, dtype, split, device, comm, order)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, split=None, device=None, comm=None):
    """Returns evenly spaced numbers, with the step if retstep is true."""
    found = created(C.linspace, start, stop, num, endpoint, dtype=dtype or types.float32, split=split, device=device, comm=comm)
    return (found, (stop - start) / builtins.max(1, num - endpoint)) if retstep else found


def meshgrid(*arrays, indexing="xy"):
    """Returns the coordinates of a grid, split as the first of the arrays that is split."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"[meshgrid] got indexing {indexing!r}; expected xy or ij")
    found = C.meshgrid([each._x for each in arrays], indexing=indexing)
    cut = next((i for i, each in enumerate(arrays) if each.split is not None), None)
    cut = 1 - cut if cut in (0, 1) and indexing == "xy" and builtins.len(arrays) > 1 else cut
    return [DNDarray(C.resplit(each, cut)) for each in found]
