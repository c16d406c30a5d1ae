"""Functions of the array API and of NumPy that heatpp does not have itself."""

import builtins
import collections
import importlib
import math
import sys

from . import _heatpp as C
from . import _forms
from ._forms import *  # noqa: F401,F403
from ._spellings import named_after, spell_all

DNDarray, dtype, Communicator = C.DNDarray, C.dtype, C.Communicator
e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None
_WHOLE = [C.int8, C.int16, C.int32, C.int64]
_KINDS = {"bool": [C.bool_], "signed integer": _WHOLE, "unsigned integer": [C.uint8], "integral": [*_WHOLE, C.uint8],
          "real floating": [C.float32, C.float64], "complex floating": [C.complex64, C.complex128]}
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class __array_namespace_info__:  # noqa: N801
    """What programs of the array API ask of a library."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ("cpu",)

    def default_dtypes(self, *, device=None):
        real = C.get_default_dtype()
        return {"real floating": real, "complex floating": C.complex64 if real == C.float32 else C.complex128, "integral": C.int64, "indexing": C.int64}

    def dtypes(self, *, device=None, kind=None):
        kinds = [kind] if isinstance(kind, str) else kind
        wanted = _KINDS["bool"] + _KINDS["numeric"] if kinds is None else [each for name in kinds for each in _KINDS[name]]
        return {each.name: each for each in wanted}


def asarray(obj, /, *, dtype=None, split=None, device=None, copy=None, comm=None, grid=None):
    """Returns an array unchanged, or data that are equal on all ranks as an array. With `copy=False` it throws if a copy is needed."""
    if not isinstance(obj, DNDarray) or copy or split is not None or grid is not None:
        if copy is False:
            raise ValueError("[asarray] got copy=False for what has to be copied; expected an array of heatpp's")
        return C.array(obj, dtype=dtype, split=split, device=device or "cpu", comm=comm, grid=grid)
    if dtype in (None, obj.dtype) and device in (None, obj.device):
        return obj
    if copy is False and dtype not in (None, obj.dtype):
        raise ValueError(f"[asarray] got copy=False and another dtype than {obj.dtype}; expected that one")
    return (obj if dtype is None else obj.astype(dtype)).to_device(device or obj.device)


def array(data, dtype=None, split=None, device="cpu", comm=None, *, copy=True, ndmin=0, grid=None):
    """Returns numbers, lists or arrays that are equal on all ranks as an array with memory of its own. Axes of extent 1 are added in front up to
    ndmin axes. See the C++ function."""
    if not copy:
        return asarray(data, dtype=dtype, split=split, device=device, comm=comm, copy=copy, grid=grid)
    if not ndmin:
        return C.array(data, dtype, split, device, comm, grid)
    found = C.array(data, dtype, None, device, comm)
    return C.array(C.reshape(found, (1,) * max(0, ndmin - found.ndim) + tuple(found.shape)), split=split, grid=grid)


def average(x, /, axis=None, weights=None, *, returned=False, **options):
    """Returns the weighted mean, and on request the sum of the weights. See the C++ function."""
    return (C.average_returned if returned else C.average)(x, axis=axis, weights=weights, **options)


def astype(x, dtype, /, *, copy=True, device=None):
    """Returns `x` in another dtype."""
    found = x.astype(dtype).to_device(device or x.device)
    return C.copy(found) if copy and found.dtype == x.dtype else found


def isdtype(dtype, kind):
    """Whether a dtype equals another, or belongs to one or several kinds."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, each) for each in kind)
    return C.dtype(dtype) in _KINDS[kind] if isinstance(kind, str) and kind in _KINDS else C.dtype(dtype) == kind


def result_type(*arrays_and_dtypes):
    """Returns the dtype of an operation on arrays, dtypes and numbers."""
    numbers = [each for each in arrays_and_dtypes if isinstance(each, (bool, int, float, complex))]
    found = None
    for each in arrays_and_dtypes:
        if not isinstance(each, (bool, int, float, complex)):
            kind = each.dtype if isinstance(each, DNDarray) else each
            found = kind if found is None else C.promote_types(found, kind)
    if found is None:
        raise ValueError("[result_type] got only numbers; expected an array or a dtype")
    for number in numbers:
        found = C.result_type(found, number)
    return found


def broadcast_arrays(*arrays):
    """Returns arrays of one common shape, in a tuple. Communicates as broadcast_to."""
    return tuple(C.broadcast_arrays(list(arrays)))


def broadcast_shapes(*shapes):
    """Returns the shape to which shapes broadcast, which may also be given in one list. Local."""
    return tuple(C.broadcast_shapes([*(shapes[0] if len(shapes) == 1 and isinstance(shapes[0], list) else shapes)]))


def meshgrid(*arrays, indexing="xy", **options):
    """Returns the coordinates of a grid, in a tuple. See the C++ function."""
    return tuple(C.meshgrid(list(arrays), indexing=indexing, **options))


def unstack(x, /, *, axis=0):
    """Returns the parts of an array along an axis, without this axis."""
    return tuple(C.unstack(x, axis))


def reshape(x, /, shape, *, copy=None, **options):
    """Returns `x` in another shape; with `copy=True` in memory of its own."""
    found = C.reshape(x, shape, **options)
    return C.copy(found) if copy else found


def nonzero(x, /):
    """Returns the positions of nonzero elements, an array for each axis: `x[nonzero(x)]` are these elements."""
    return tuple(C.nonzero(x))


def where(condition, x=None, y=None):
    """Returns x if the condition is true, otherwise y; without x and y, as nonzero."""
    return nonzero(condition) if x is None else C.where(condition, x, y)


def einsum(subscripts, /, *operands):
    """Returns the sums of products that the subscripts define. See the C++ function."""
    return C.einsum(subscripts, operands[0] if isinstance(operands[0], (list, tuple)) else list(operands))


def ix_(*positions):
    """Returns positions of each axis that broadcast to those of a grid."""
    return tuple(C.ix_(list(positions)))


def permute_dims(x, /, axes):
    """Returns the array with its axes in another order."""
    return C.permute_dims(x, (axes,) if isinstance(axes, int) else axes)


def clip(x, /, min=None, max=None):
    """Limits `x` to min .. max."""
    return C.clip(x, min, max)


def finfo(type, /):
    """Returns the limits of a floating-point dtype, or of that of an array."""
    return C.finfo(type.dtype if isinstance(type, DNDarray) else type)


_IntegerLimits = collections.namedtuple("IntegerLimits", "bits min max dtype")


def iinfo(type, /):
    """Returns the limits of an integer dtype, or of that of an array."""
    kind = type.dtype if isinstance(type, DNDarray) else C.dtype(type)
    return _IntegerLimits(*C.iinfo(kind), kind)


def _like(function):
    @named_after(function)
    def like(x, /, dtype=None, *, device=None, **options):
        return asarray(function(x, dtype=dtype, **options), device=device)
    return like


empty_like, zeros_like, ones_like = (_like(getattr(C, name)) for name in ("empty_like", "zeros_like", "ones_like"))


def full_like(x, /, fill_value, dtype=None, *, device=None, **options):
    """Returns an array like `x`, filled with one number."""
    return asarray(C.full_like(x, fill_value, dtype=dtype, **options), device=device)


def _trace(x, /, *, offset=0, dtype=None, _trace=C.linalg.trace):
    """Returns the sums of the diagonals of matrices."""
    return _trace(x if dtype is None else x.astype(dtype), offset)


def _svd(x, /, full_matrices=True, compute_uv=True, _svd=C.linalg.svd):
    """Returns singular values and vectors, by default complete bases, or only the values, as in NumPy. See the C++ function."""
    return _svd(x, full_matrices=full_matrices) if compute_uv else C.linalg.svdvals(x)


def _linalg_error(name):
    """Returns NumPy's LinAlgError, which is loaded on demand."""
    if name != "LinAlgError":
        raise AttributeError(f"heatpp.linalg has no {name}")
    return importlib.import_module("numpy.linalg").LinAlgError


C.linalg.trace, C.linalg.svd, C.linalg.__getattr__ = _trace, _svd, _linalg_error


def _namespace(self, /, *, api_version=None):
    if api_version not in (None, *(f"{year}.12" for year in range(2021, 2026))):
        raise ValueError(f"[__array_namespace__] got version {api_version!r}; expected one of 2021.12 to 2025.12")
    return sys.modules["heatpp"]


def _method(function):
    @named_after(function)
    def method(self, *arguments, **options):
        return function(self, *arguments, **options)
    return method


_spelled = spell_all(globals())


def _array_function(self, function, types, arguments, options):
    """Maps NumPy's functions of heatpp's arrays to heatpp's functions of the same name, if there is one."""
    space = {"numpy": sys.modules["heatpp"], "numpy.linalg": C.linalg, "numpy.fft": C.fft}.get(function.__module__)
    found = getattr(space, function.__name__, None)
    known = builtins.all(issubclass(each, (DNDarray, sys.modules["numpy"].ndarray)) for each in types)
    out = options.get("out")
    if not callable(found) or isinstance(found, type) or not known or out is not None and not isinstance(out, DNDarray):
        return NotImplemented
    made = found(*arguments, **{name: value for name, value in options.items() if name != "out"})
    if function.__name__ == "qr" and "r" in (options.get("mode"), *arguments[1:]):
        return made.R  # only R, as in NumPy
    if out is None:
        return made
    out[...] = made
    return out


def _array_ufunc(self, function, method, *arguments, out=(), **options):
    found = getattr(sys.modules["heatpp"], function.__name__, None)
    known = builtins.all(not hasattr(type(each), "__array_ufunc__") or isinstance(each, (DNDarray, sys.modules["numpy"].ndarray, sys.modules["numpy"].generic))
                         for each in arguments)
    if method != "__call__" or found is None or not known or not builtins.all(isinstance(each, DNDarray) for each in out):
        return NotImplemented
    target = out[0] if len(out) == 1 else out
    made = found(*arguments, **options, **({"out": target} if out else {}))
    return target if out else made


def _whole_array(self):
    """Returns a NumPy array of an array that each process holds as a whole, for scikit-learn; np.asarray asks for the block before."""
    if builtins.max(self.grid, default=1) > 1:
        raise AttributeError("[__array__] got an array of which each rank has a part; expected x.numpy(), all of it on each rank, or x.larray, the part")

    def made(dtype=None, copy=None):
        if copy is False:
            raise ValueError("[__array__] got copy=False; expected np.asarray(x), this process's block without a copy")
        return sys.modules["numpy"].asarray(self.numpy(), dtype=dtype)
    return made


DNDarray.__array__ = property(_whole_array)
DNDarray.__array_namespace__, DNDarray.__array_function__, DNDarray.__array_ufunc__ = _namespace, _array_function, _array_ufunc
_ours = globals()
for _name in C._methods.split():
    if not hasattr(DNDarray, _name) and _name != "extract":  # its first array is the condition
        setattr(DNDarray, _name, _method(_ours.get(_name) or getattr(C, _name)))


def _reshape(self, *shape, **options):
    return reshape(self, shape[0] if len(shape) == 1 else shape, **options)


def _transpose(self, *axes):
    return C.transpose(self, axes[0] or () if len(axes) == 1 and not isinstance(axes[0], int) else axes)


def _astype(self, dtype, copy=True, _astype=DNDarray.astype):
    """Returns `x` in another dtype."""
    return _astype(self, dtype)


def _compress(self, condition, axis=None, **options):
    """Returns the parts of an axis, or elements, at which the condition is true."""
    return C.compress(condition, self, axis, **options)


def _fill(self, value):
    """Writes a number to all elements."""
    self[...] = value


def _item(self, *index, _item=DNDarray.item):
    """Returns an element as a number: the only one, or that at a position. Collective."""
    if len(index) == 1 and self.ndim != 1:
        index = sys.modules["numpy"].unravel_index(index[0], self.shape)
    return _item(self[tuple(int(i) for i in index)] if index else self)


def _iterate(self):
    return (self[i] for i in range(len(self)))


def _format(self, spec):
    return format(self.item(), spec) if spec else str(self)


def _no_pickle(self, protocol):
    raise TypeError("[pickle] got an array, of which each rank has a part; expected x.numpy(), or a file of heatpp.io")


for _name, _made in {"reshape": _reshape, "transpose": _transpose, "astype": _astype, "compress": _compress, "fill": _fill, "item": _item, "__iter__": _iterate, "__format__": _format,
                     "__contains__": lambda self, value: bool(C.any(self == value)), "__round__": lambda self, digits=None: round(self.item(), digits),
                     "__copy__": lambda self: C.copy(self), "__deepcopy__": lambda self, known: C.copy(self), "__reduce_ex__": _no_pickle}.items():
    setattr(DNDarray, _name, _made)

__all__ = [*_spelled, *_forms.__all__, "__array_namespace_info__", "e", "inf", "nan", "pi", "newaxis", "array", "asarray", "average", "astype", "isdtype", "result_type", "broadcast_arrays", "broadcast_shapes", "meshgrid",
           "unstack", "nonzero", "where", "einsum", "ix_", "reshape", "permute_dims", "clip", "finfo", "iinfo", "empty_like", "zeros_like", "ones_like", "full_like"]
