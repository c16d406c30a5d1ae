"""What the array API asks of a namespace and its arrays, with HeAT's types and devices."""

import collections
import sys

import torch

from .. import _api
from .. import _heatpp as C
from . import types
from ._arrays import DNDarray, array, sanitize_in
from ._ranks import Device, get_device, known_devices, sanitize_device

_KINDS = {"bool": "bool", "signed integer": "int8 int16 int32 int64", "unsigned integer": "uint8", "integral": "int8 int16 int32 int64 uint8",
          "real floating": "float16 float32 float64", "complex floating": "complex64 complex128"}
_KINDS["numeric"] = " ".join(_KINDS[each] for each in ("integral", "real floating", "complex floating"))
_VERSION = "2025.12"


class __array_namespace_info__:  # noqa: N801
    """What programs of the array API ask of a library."""

    def capabilities(self):
        return _api.__array_namespace_info__().capabilities()

    def default_device(self):
        return get_device()

    def devices(self):
        return known_devices()

    def default_dtypes(self, *, device=None):
        _check_device(device)
        return {"real floating": types.float32, "complex floating": types.complex64, "integral": types.int64, "indexing": types.int64}

    def dtypes(self, *, device=None, kind=None):
        _check_device(device)
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        wrong = next((each for each in kinds if each not in _KINDS), None)
        if wrong is not None:
            raise ValueError(f"[dtypes] got the kind {wrong!r}; expected one of {', '.join(_KINDS)}")
        return {name: getattr(types, name) for each in kinds for name in _KINDS[each].split() if name != "float16"}


def _check_device(device):
    if device is not None and not isinstance(device, Device):
        raise ValueError(f"[device] got {device!r}; expected a device of HeAT's")


def astype(x, dtype, /, *, copy=True, device=None):
    """Returns an array in another type, which is a copy unless copy is false and nothing changes."""
    sanitize_in(x)
    return x.astype(dtype, copy=copy, device=device)


def isdtype(dtype, kind):
    """Whether a type equals another, or belongs to one or several kinds."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str) and kind not in _KINDS:
        raise TypeError(f"[isdtype] got the kind {kind!r}; expected one of {', '.join(_KINDS)}, or a type")
    name = types.canonical_heat_type(dtype).__name__
    return name in _KINDS[kind].split() if isinstance(kind, str) else name == types.canonical_heat_type(kind).__name__


def from_dlpack(x, /, *, device=None, copy=None):
    """Returns an array of another library as one that every rank holds as a whole. It shares memory unless copy is true or the device another one."""
    found = torch.from_dlpack(x)
    made = array(found.clone() if copy else found, copy=False)
    return made if device is None else made.to_device(sanitize_device(device))


def matrix_transpose(x, /):
    """Returns matrices with their last two axes exchanged."""
    sanitize_in(x)
    return DNDarray(C.linalg.matrix_transpose(x._x))


_Inverse = collections.namedtuple("UniqueInverseResult", "values inverse_indices")


def unique_inverse(x, /):
    """Returns the distinct elements, and the position among them of each element."""
    sanitize_in(x)
    return _Inverse(*map(DNDarray, C.unique_inverse(x._x)))


def unique_values(x, /):
    """Returns the distinct elements."""
    sanitize_in(x)
    return DNDarray(C.unique_values(x._x))


def sanitize_in_min_max_nd(input, min_nd=None, max_nd=None):
    """Throws if `input` is no array, or has fewer or more axes."""
    sanitize_in(input)
    if min_nd is not None and input.ndim < min_nd or max_nd is not None and input.ndim > max_nd:
        raise ValueError(f"[sanitize_in_min_max_nd] got {input.ndim} axes; expected {min_nd or 0} to {'any number' if max_nd is None else max_nd}")


# Methods of arrays ---------------------------------------------------------------------------------------------------------


def _namespace(self, *, api_version=None):
    """Returns this module, which follows the array API of 2025.12."""
    if api_version not in (None, _VERSION):
        raise ValueError(f"[__array_namespace__] got version {api_version!r}; expected {_VERSION}")
    return sys.modules[__package__]


def _index(self):
    """Returns a whole number of an array with one element."""
    if not issubclass(self.dtype, types.integer):
        raise TypeError(f"[index] got {self.dtype.__name__}; expected a whole number")
    return int(self)


def _dlpack(self, *given, **named):
    """Returns a capsule of an array that each rank holds as a whole."""
    if self.is_distributed():
        raise BufferError(f"[__dlpack__] got split {self.split}, of which each rank has a part; expected x.larray, this part, or x.resplit(None)")
    return self.larray.__dlpack__(*given, **named)


def _to_device(self, device, /, *, stream=None):
    """Returns the array on a device; itself if it is there."""
    if stream is not None:
        raise ValueError(f"[to_device] got stream {stream!r}; expected None")
    return self.cpu() if sanitize_device(device).device_type == "cpu" else self.gpu()


DNDarray.__array_namespace__, DNDarray.__index__, DNDarray.to_device = _namespace, _index, _to_device
DNDarray.__dlpack__, DNDarray.__dlpack_device__ = _dlpack, lambda self: self.larray.__dlpack_device__()
DNDarray.mT = property(matrix_transpose)
__array_api_version__ = _VERSION
