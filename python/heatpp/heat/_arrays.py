"""HeAT's arrays, devices and communicators."""

import builtins
import inspect
import re
import sys

import numpy as np
import torch
from mpi4py import MPI

from .. import _heatpp as C
from .types import canonical_heat_type, complexfloating, datatype, ours_of


class Device:
    """Where arrays lie."""

    def __init__(self, device_type="cpu", device_id=0, torch_device=None):
        self.device_type, self.device_id = device_type, device_id
        self.torch_device = torch_device or f"{'cpu' if device_type == 'cpu' else 'cuda'}:{device_id}"

    def __repr__(self):
        return f"device({self})"

    def __str__(self):
        return f"{self.device_type}:{self.device_id}"

    def __eq__(self, other):
        return str(self) == str(sanitize_device(other))

    def __hash__(self):
        return hash(str(self))


cpu = Device()
_default = {"device": cpu}


def sanitize_device(device=None):
    """A device, by its name, or the default."""
    if device is None or isinstance(device, Device):
        return device or _default["device"]
    kind, _, number = str(device).strip().lower().partition(":")
    if kind not in ("cpu", "gpu", "cuda"):
        raise ValueError(f"[sanitize_device] got {device!r}; expected cpu or gpu")
    return cpu if kind == "cpu" else Device("gpu", int(number or 0))


def get_device():
    """The default device."""
    return _default["device"]


def use_device(device=None):
    """Changes the default device."""
    _default["device"] = sanitize_device(device)


class MPICommunication:
    """A communicator by HeAT's interface: everything but the cuts is mpi4py's, to which tensors are NumPy arrays."""

    def __init__(self, handle=None):
        self.handle = MPI.COMM_WORLD if handle is None else handle
        self.rank, self.size = self.handle.rank, self.handle.size

    def is_distributed(self):
        return self.size > 1

    def __eq__(self, other):
        return isinstance(other, MPICommunication) and self.handle == other.handle

    def __hash__(self):
        return hash(self.size)

    def chunk(self, shape, split, rank=None, w_size=None, sparse=False):
        """The offset, shape and slices of a rank's share."""
        shape, size, rank = tuple(shape), w_size or self.size, self.rank if rank is None else rank
        if split is None:
            return 0, shape, tuple(slice(0, n) for n in shape)
        split = sanitize_axis(shape, split)
        each, more = divmod(shape[split], size)
        start, extent = rank * each + min(rank, more), each + (rank < more)
        whole = tuple(slice(start, start + extent) if axis == split else slice(0, n) for axis, n in enumerate(shape))
        return start, tuple(extent if axis == split else n for axis, n in enumerate(shape)), whole

    def counts_displs_shape(self, shape, axis):
        """How much each rank has, from where on, and the shape of this rank's share."""
        parts = [self.chunk(shape, axis, rank) for rank in range(self.size)]
        return tuple(part[1][axis] for part in parts), tuple(part[0] for part in parts), parts[self.rank][1]

    def Split(self, color=0, key=0):
        return MPICommunication(self.handle.Split(color, key))

    def __getattr__(self, name):
        function = getattr(self.handle, name)
        if not name[:1].isupper():
            return function
        buffer = lambda each: each.larray.numpy() if isinstance(each, DNDarray) else each.numpy() if isinstance(each, torch.Tensor) else each
        return lambda *given, **named: function(*map(buffer, given), **{key: buffer(value) for key, value in named.items()})


Communication = MPICommunication


def get_comm():
    """The default communicator."""
    return _default["comm"]


def sanitize_comm(comm=None):
    """A communicator, or the default."""
    if comm is not None and not isinstance(comm, MPICommunication):
        raise TypeError(f"[sanitize_comm] got {type(comm).__name__}; expected a communicator")
    return comm or get_comm()


def use_comm(comm=None):
    """Changes the default communicator."""
    _default["comm"] = comm or MPI_WORLD


def sanitize_axis(shape, axis):
    """Axes counted from the front."""
    if axis is None or isinstance(axis, tuple):
        return axis and tuple(sanitize_axis(shape, each) for each in axis)
    if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        raise TypeError(f"[sanitize_axis] got axis {axis!r}; expected a whole number")
    if not -max(len(shape), 1) <= axis < max(len(shape), 1):
        raise ValueError(f"[sanitize_axis] got axis {axis} of {len(shape)}; expected one of the array's")
    return axis % len(shape) if shape else None


class DNDarray:
    """An array of heatpp's with HeAT's rules."""

    def __init__(self, x):
        self._x, self._block = x, None

    @property
    def larray(self):
        """This rank's block as a tensor that shares its memory."""
        if self._block is None:
            self._block = torch.from_numpy(self._x.larray)
        return self._block

    @larray.setter
    def larray(self, block):
        self._set(_from_block(block, self.split, self.comm))

    def _set(self, x):
        self._x = x
        return self._written()

    def _written(self):
        """Lets a view that was handed out show what is written elsewhere, as in-place functions take memory of their own where it is shared."""
        if self._block is not None:
            self._block.data = torch.from_numpy(self._x.larray)
        return self

    dtype = property(lambda self: canonical_heat_type(self._x.dtype))
    device = property(lambda self: sanitize_device(self._x.device))
    comm = property(lambda self: _comm_of(self._x.comm))
    shape = gshape = property(lambda self: tuple(self._x.shape))
    lshape = property(lambda self: tuple(self._x.lshape))
    size = gnumel = property(lambda self: self._x.size)
    lnumel = property(lambda self: self.larray.numel())
    nbytes = gnbytes = property(lambda self: self._x.nbytes)
    lnbytes = property(lambda self: self.larray.numel() * self.larray.element_size())
    ndim, split = property(lambda self: self._x.ndim), property(lambda self: self._x.split)
    balanced = property(lambda self: self._x.is_balanced())
    stride = property(lambda self: self.larray.stride)
    strides = property(lambda self: tuple(self.larray.element_size() * each for each in self.larray.stride()))
    lloc = property(lambda self: self.larray)
    lshape_map = property(lambda self: self.create_lshape_map())
    T, imag = (property(lambda self, name=name: DNDarray(getattr(self._x, name))) for name in ("T", "imag"))
    real = property(lambda self: DNDarray(self._x.real) if issubclass(self.dtype, complexfloating) else self)

    def create_lshape_map(self, force_check=False):
        """The shape of each rank's block."""
        return torch.tensor(self.comm.handle.allgather(self.lshape), dtype=torch.int64).reshape(self.comm.size, self.ndim)

    def counts_displs(self):
        """How much each rank has along the split axis, and from where on."""
        if self.split is None:
            raise ValueError("[counts_displs] got an array that is not split; expected a split one")
        counts = self.lshape_map[:, self.split].tolist()
        return tuple(counts), tuple(sum(counts[:rank]) for rank in range(len(counts)))

    def is_balanced(self, force_check=False):
        return self._x.is_balanced()

    def is_distributed(self):
        return self.split is not None and self.comm.is_distributed()

    def astype(self, dtype, copy=True):
        found = self._x.astype(ours_of(dtype))
        return DNDarray(found) if copy else self._set(found)

    def cpu(self):
        return self

    def item(self):
        if self.size != 1:
            raise ValueError(f"[item] got {self.size} elements; expected one")
        return self._x.item()

    def numpy(self):
        return self._x.numpy()

    def tolist(self, keepsplit=False):
        return self.larray.tolist() if keepsplit else self._x.tolist()

    def resplit_(self, axis=None):
        return self._set(C.resplit(self._x, sanitize_axis(self.shape, axis)))

    def redistribute_(self, lshape_map=None, target_map=None):
        return self._set(redistributed(self, target_map))

    def get_halo(self, halo_size, prev=True, next=True):
        self._halo = halo_size if halo_size else 0

    array_with_halos = property(lambda self: torch.from_numpy(np.asarray(C.array_with_halos(self._x, getattr(self, "_halo", 0)))))

    def __getitem__(self, key):
        return DNDarray(self._x[_key(key)])

    def __setitem__(self, key, value):
        self._x[_key(key)] = value._x if isinstance(value, DNDarray) else value if np.isscalar(value) else _numbers(value)
        self._written()

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.larray, dtype=dtype)

    def __array_function__(self, function, kinds, given, named):
        """NumPy's and PyTorch's functions are those of the same name."""
        ours = getattr(sys.modules[__package__], function.__name__, None)
        return NotImplemented if ours is None else ours(*given, **named)

    def __array_ufunc__(self, function, method, *given, **named):
        return self.__array_function__(function, None, given, named) if method == "__call__" else NotImplemented

    @classmethod
    def __torch_function__(cls, function, kinds, given=(), named=None):
        return cls.__array_function__(None, function, kinds, given, named or {})

    def __len__(self):
        return len(self._x)

    def __str__(self):
        text = re.sub(r", shape=\([^)]*\), dtype=(\w+), split=", rf", dtype=ht.\1, device={self.device}, split=", str(self._x))
        return text if self.comm.rank == 0 else ""

    def __round__(self, digits=0):
        return round(self.item(), digits)

    def __repr__(self):
        return repr(self._x)

    def __torch_proxy__(self):
        return torch.ones(1).as_strided(self.shape, [0] * self.ndim)


for _name in ("__bool__", "__int__", "__float__", "__complex__"):
    setattr(DNDarray, _name, lambda self, kind=getattr(builtins, _name.strip("_")): kind(self.item()))


def _comm_of(comm):
    return _default["comm"] if comm.size == _default["comm"].size else MPICommunication(comm.handle)


def _numbers(obj):
    """What arrays are made of, as a NumPy array."""
    if isinstance(obj, torch.Tensor):
        return obj.detach().cpu().resolve_conj().numpy()
    if isinstance(obj, (list, tuple)):
        obj = [_numbers(each) if isinstance(each, (list, tuple, torch.Tensor, DNDarray)) else each for each in obj]
    return obj.numpy() if isinstance(obj, DNDarray) else np.asarray(obj)


def _key(key):
    if isinstance(key, tuple):
        return tuple(map(_key, key))
    return key._x if isinstance(key, DNDarray) else _numbers(key) if isinstance(key, (torch.Tensor, list)) and len(key) else key


def _inside(value):
    """An argument as heatpp takes it."""
    if isinstance(value, DNDarray):
        return value._x
    if isinstance(value, (list, tuple)):
        return type(value)(map(_inside, value)) if type(value) in (list, tuple) else [*map(_inside, value)]
    if isinstance(value, MPICommunication):
        return value.handle
    if isinstance(value, Device):
        return str(value)
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return C.array(_numbers(value))
    return ours_of(value) if isinstance(value, torch.dtype) or inspect.isclass(value) and issubclass(value, datatype) else value


def _outside(value):
    """A result as HeAT gives it."""
    if isinstance(value, C.DNDarray):
        return DNDarray(value)
    if isinstance(value, C.dtype):
        return canonical_heat_type(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_outside, value))
    return type(value)(map(_outside, value)) if isinstance(value, (list, tuple)) else value


def sanitize_in(x):
    """Fails for what is no array."""
    if not isinstance(x, DNDarray):
        raise TypeError(f"[sanitize_in] got {type(x).__name__}; expected an array")


def sanitize_out(out, output_shape, output_split, output_device, output_comm=None):
    """Fails for what cannot take a result."""
    sanitize_in(out)
    if out.shape != tuple(output_shape):
        raise ValueError(f"[out] got shape {out.shape}; expected {tuple(output_shape)}")


def redistributed(x, target_map):
    """An array of heatpp's, cut as a table of the shapes of all blocks says."""
    return C.balance(x._x) if target_map is None else C.redistribute(x._x, np.asarray(target_map)[:, x.split].tolist())


def _put(result, out):
    """A result, in the array that is to take it."""
    if out is None:
        return result
    if isinstance(result, tuple):
        return tuple(_put(*pair) for pair in zip(result, out))
    sanitize_out(out, result.shape, None, None)
    return out._set(C.resplit(result._x, out.split).astype(out._x.dtype))


def _from_block(block, split, comm=None):
    block = _numbers(block)
    return C.from_local(np.ascontiguousarray(block), split=split, comm=sanitize_comm(comm).handle)


def array(obj, dtype=None, copy=None, ndmin=0, order="C", split=None, is_split=None, device=None, comm=None):
    """An array of numbers that all ranks give alike, or of each rank's block."""
    if split is not None and is_split is not None:
        raise ValueError("[array] got split and is_split; expected one of them")
    kind = None if dtype is None else ours_of(dtype)
    comm, device = sanitize_comm(comm), sanitize_device(device)
    if isinstance(obj, DNDarray) and is_split is None and ndmin <= obj.ndim:
        found = obj._x if split is None or split == obj.split else C.resplit(obj._x, sanitize_axis(obj.shape, split))
        return DNDarray(C.copy(found) if kind is None else found.astype(kind))
    numbers = _numbers(obj)
    if numbers.dtype == object:
        raise TypeError(f"[array] got {type(obj).__name__}; expected numbers")
    if kind is None and not hasattr(obj, "dtype") and numbers.dtype.kind in "fc":
        kind = C.float32 if numbers.dtype.kind == "f" else C.complex64
    numbers = numbers.reshape((1,) * (abs(ndmin) - numbers.ndim) + numbers.shape if ndmin > 0 else numbers.shape + (1,) * (abs(ndmin) - numbers.ndim))
    if is_split is None:
        return DNDarray(C.array(numbers, dtype=kind, split=sanitize_axis(numbers.shape, split), device=str(device), comm=comm.handle))
    made = _from_block(np.array(numbers), sanitize_axis(numbers.shape, is_split), comm)
    return DNDarray(made if kind is None else made.astype(kind))


def asarray(obj, dtype=None, copy=None, order="C", is_split=None, device=None):
    """An array as it is, or made of numbers."""
    known = isinstance(obj, DNDarray) and not copy and dtype in (None, obj.dtype) and is_split in (None, obj.split)
    return obj if known else array(obj, dtype, split=None, is_split=is_split, device=device)


MPI_WORLD = MPICommunication()
_default["comm"] = MPI_WORLD
