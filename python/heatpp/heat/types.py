"""HeAT's types and their promotion."""

import builtins
import inspect
import sys

import numpy as np
import torch

from .. import _heatpp as C

_here = sys.modules[__name__]


class datatype:
    """The base of HeAT's types. A call of a type creates an array."""

    array = None  # set by _arrays, which needs the types

    def __new__(cls, *value, device=None, comm=None):
        if len(value) > 1:
            raise TypeError(f"[{cls.__name__}] got {len(value)} values; expected one")
        return datatype.array(*(value or ((0,),)), dtype=cls, device=device, comm=comm)

    @classmethod
    def torch_type(cls):
        return getattr(torch, canonical_heat_type(cls).__name__)

    @classmethod
    def char(cls):
        return cls._char


def _kind(name, base, *aliases, char=None):
    kind = type(name.rstrip("_"), (base,), {"_char": char, "__module__": __name__})
    _here.__dict__.update(dict.fromkeys((name, *aliases), kind))
    return kind


_PYTHON = {builtins.bool: "bool", builtins.int: "int32", builtins.float: "float32", builtins.complex: "complex64"}
_kind("bool_", datatype, "bool", char="u1")
_kind("number", datatype)
_kind("integer", number), _kind("signedinteger", integer), _kind("unsignedinteger", integer)
_kind("floating", number), _kind("complexfloating", number), _kind("flexible", datatype)
for _line in ("signedinteger int8 byte i1", "signedinteger int16 short i2", "signedinteger int32 int int_ i4", "signedinteger int64 long i8",
              "unsignedinteger uint8 ubyte u1", "floating float16 half f2", "floating float32 float float_ f4", "floating float64 double f8",
              "complexfloating complex64 cfloat csingle c8", "complexfloating complex128 cdouble c16"):
    _base, *_names, _char = _line.split()
    _kind(_names[0], getattr(_here, _base), *_names[1:], char=_char)
_TYPES = {name: getattr(_here, name) for name in "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()}


def canonical_heat_type(a_type):
    """Returns HeAT's type for one of HeAT, Python, NumPy or PyTorch, or for a name."""
    if inspect.isclass(a_type) and issubclass(a_type, datatype):
        name = a_type.__name__
    elif a_type in _PYTHON if inspect.isclass(a_type) else False:
        name = _PYTHON[a_type]
    elif inspect.isclass(a_type) and not issubclass(a_type, np.generic):
        name = a_type.__name__ + ", which is no type of numbers"
    elif isinstance(a_type, (C.dtype, torch.dtype)):
        name = str(a_type).removeprefix("torch.")
    else:
        name = np.dtype({"c": "complex64", "u": "uint8"}.get(a_type, a_type)).name if a_type is not None else None
    if name not in _TYPES:
        raise TypeError(f"[canonical_heat_type] got {a_type!r}; expected a type that arrays hold")
    return _TYPES[name]


def ours_of(kind):
    return getattr(C, canonical_heat_type(kind).__name__.replace("bool", "bool_"))


def heat_type_of(obj):
    """Returns the type of the elements of an array, or of an array made from an object."""
    if hasattr(obj, "dtype"):
        return canonical_heat_type(obj.dtype)
    return canonical_heat_type(type(obj[0] if isinstance(obj, (list, tuple, str)) and len(obj) else obj))


def issubdtype(arg1, arg2):
    """Whether a type belongs to a kind."""
    first, second = (each if inspect.isclass(each) and issubclass(each, datatype) else canonical_heat_type(each) for each in (arg1, arg2))
    return issubclass(first, second)


def _is_kind(*bases):
    return lambda ht_dtype: issubclass(canonical_heat_type(ht_dtype), bases)


heat_type_is_exact, heat_type_is_inexact = _is_kind(integer, bool_), _is_kind(floating, complexfloating)
heat_type_is_realfloating, heat_type_is_complexfloating = _is_kind(floating), _is_kind(complexfloating)
_WIDTH = {"int32": 32, "int64": 64, "float32": 32, "float64": 64, "complex64": 32, "complex128": 64}  # the width of the floats that hold them


def promote_types(type1, type2):
    """Returns the smallest type that holds both; a float32 counts as holding 32-bit integers."""
    one, other = (canonical_heat_type(each) for each in (type1, type2))
    if heat_type_is_exact(one) and heat_type_is_exact(other):
        return canonical_heat_type(C.promote_types(ours_of(one), ours_of(other)))
    width = max(_WIDTH.get(each.__name__, 16) for each in (one, other))
    whole = not (heat_type_is_complexfloating(one) or heat_type_is_complexfloating(other))
    return _TYPES[f"float{width}" if whole else f"complex{2 * max(width, 32)}"]


def _rank(kind):
    return 0 if kind is bool_ else 1 if issubclass(kind, integer) else 2 if issubclass(kind, floating) else 3


def same_kind(type1, type2):
    """Whether both are bool, integers, real or complex."""
    return _rank(canonical_heat_type(type1)) == _rank(canonical_heat_type(type2))


def result_type(*arrays_and_types):
    """Returns the common type. Arrays go before types, arrays without axes and numbers, which count only if they are of a wider kind."""
    found = (None, None)
    for each in arrays_and_types:
        if hasattr(type(each), "larray"):
            now = (0 if each.ndim else 2, each.dtype)
        elif isinstance(each, (builtins.bool, builtins.int, builtins.float, builtins.complex)):
            now = (3, canonical_heat_type(type(each)))
        else:
            now = (1, canonical_heat_type(each if inspect.isclass(each) else getattr(each, "dtype", each)))
        if found[0] is None or found[0] == now[0]:
            found = now if found[0] is None else (now[0], promote_types(found[1], now[1]))
        else:
            first, second = sorted((found, now), key=lambda pair: pair[0])
            found = (first[0], first[1] if _rank(second[1]) <= _rank(first[1]) else second[1])
    return found[1]


def real_of(kind):
    """Returns the type of the real part of a complex type, and other types unchanged."""
    kind = canonical_heat_type(kind)
    return {complex64: float32, complex128: float64}.get(kind, kind)  # noqa: F821
