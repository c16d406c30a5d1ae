"""HeAT's names, signatures and rules on heatpp's arrays: write `import heatpp.heat as ht` instead of `import heat as ht`.

The tables of the modules contain the differences between HeAT and heatpp. Everything else is heatpp's function of that name.
"""

import builtins
import sys
import types as _python

import numpy as np

from .. import __version__, _heatpp as C  # noqa: F401
from . import _data, _factories, _functions, _io, _linalg, _printing, _random, _ranks, _separation, _signal, _sorting, _sparse, _standard, types
from ._arrays import DNDarray, _inside, array, asarray, sanitize_in
from ._estimators import *  # noqa: F401,F403
from ._estimators import parts as _parts
from ._partitions import from_partition_dict, from_partitioned
from ._ranks import (MPI, MPI_WORLD, Communication, Device, MPICommunication, cpu, get_comm, get_device, sanitize_axis, sanitize_comm, sanitize_device,
                     use_comm, use_device)
from ._rules import get_rules, use_rules  # noqa: F401
from ._sanitation import *  # noqa: F401,F403
from ._standard import __array_api_version__, __array_namespace_info__  # noqa: F401
from ._wrapped import BINARY as _BINARY
from ._wrapped import core as _core
from ._wrapped import no_lists
from ._wrapped import wrapped as _wrapped
from .types import *  # noqa: F401,F403

_here = sys.modules[__name__]
if hasattr(_ranks, "gpu"):
    gpu = _ranks.gpu


def __getattr__(name):
    known = ": networks are trained by heatpp.nn" if name in ("nn", "optim") else ""
    raise AttributeError(f"heatpp.heat has no {name}{known}")


def _module(name, **members):
    """Makes a part of HeAT's namespace, which can also be imported."""
    module = sys.modules[f"{__name__}.{name}"] = _python.ModuleType(f"{__name__}.{name}")
    module.__dict__.update(members)
    return module


def _own(part):
    """Returns the names that a part defines itself."""
    return {name: each for name, each in vars(part).items() if name[0] != "_" and getattr(each, "__module__", None) == part.__name__}


linalg, random = _module("linalg", **_linalg.functions), _module("random", **{**_wrapped("random.", C.random), **_random.functions})
for _name in "basics solver svdtools".split():  # modules of HeAT
    linalg.__dict__[_name] = sys.modules[f"{__name__}.linalg.{_name}"] = linalg
fft, spatial, io, sparse = (_module(name, **_wrapped(name + ".", getattr(C, name))) for name in "fft spatial io sparse".split())
sparse.__dict__.update({name: getattr(_sparse, name) for name in _sparse.__all__})
io.__dict__.update({name: getattr(_io, name) for name in _io.__all__}, __getattr__=_io.__getattr__)
_galleries = _wrapped("datasets.", C.datasets)
utils = _module("utils", data=_module("data", spherical=_module("spherical", create_clusters=_data.create_clusters, create_spherical_dataset=_data.create_spherical_dataset),
                                     matrixgallery=_module("matrixgallery", **{**_galleries, **{name: getattr(_data, name) for name in ("random_known_rank", "random_known_singularvalues")}})))
graph = _module("graph", Laplacian=_data.Laplacian)
_names = {**_core, **{name: each for name, each in linalg.__dict__.items() if name[0] != "_" and name not in ("diagonal", "cross", "trace")},
          **{name: each for name, each in io.__dict__.items() if name.startswith(("load", "save", "supports"))}, **_own(_linalg), **_own(_factories), **_own(_functions), **_own(_printing), **_own(_sorting), **_own(_signal), **_own(_standard)}
_here.__dict__.update({name: each for name, each in _names.items() if name not in _here.__dict__ and name != "gpu"})  # a device, if there is one
comm, MPI_SELF = MPI_WORLD, MPICommunication(MPI.COMM_SELF)
_numbers = {"e Euler": np.e, "inf Inf Infinity Infty": np.inf, "nan NaN": np.nan, "pi": np.pi, "newaxis": None}
_here.__dict__.update({name: value for names, value in _numbers.items() for name in names.split()})
constants = _module("constants", E=np.e, INF=np.inf, NINF=-np.inf, NAN=np.nan, PI=np.pi, **{name: _here.__dict__[name] for names in _numbers for name in names.split()})


# Methods and operators ---------------------------------------------------------------------------------------------------


def _in_place(function):
    """Returns a method that changes the array, if the type of the other operand can be converted to its own."""
    named_of = function.__name__.rstrip("_")

    def call(self, *given, **named):
        no_lists(function.__name__, given)
        for other in given if named_of in _BINARY or named_of == "copysign" else ():
            if isinstance(other, (DNDarray, builtins.bool, builtins.int, builtins.float, builtins.complex)) and not _functions.can_cast(types.heat_type_of(other), self.dtype):
                raise TypeError(f"[{function.__name__}] got {types.heat_type_of(other).__name__}; expected a type that {self.dtype.__name__} can hold")
            if isinstance(other, DNDarray) and other.split is not None and (self.split is None or self.comm.size > 1) and other.split + self.ndim - other.ndim != self.split:
                raise ValueError(f"[{function.__name__}] got an operand of split {other.split}; expected the split of the array, {self.split}, because the array stays in place")
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
    for _class in _classes:  # modules of HeAT
        _here.__dict__[_name].__dict__[_class.lower()] = sys.modules[f"{__name__}.{_name}.{_class.lower()}"] = _here.__dict__[_name]
cluster = _here.__dict__["cluster"]
cluster.__dict__.update(_own(_separation), metrics=cluster)
sys.modules[f"{__name__}.cluster.metrics"] = cluster
for _name in ("core communication factories dndarray arithmetics devices exponential indexing io_ logical manipulations memory printing relational rounding sanitation "
              "signal statistics stride_tricks tiling trigonometrics complex_math base").split():
    _here.__dict__[_name] = sys.modules[f"{__name__}.{_name}"] = _here
