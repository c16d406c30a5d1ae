"""HeAT's devices and communicators."""

import builtins

import numpy as np
import torch
from mpi4py import MPI

from .. import _heatpp as C


class Device:
    """The place of arrays."""

    def __init__(self, device_type="cpu", device_id=0, torch_device=None):
        self.device_type, self.device_id = device_type, device_id
        self.torch_device = torch_device or ("cpu" if device_type == "cpu" else f"cuda:{device_id}")

    def __repr__(self):
        return f"device({self})"

    def __str__(self):
        return f"{self.device_type}:{self.device_id}"

    def __eq__(self, other):
        return str(self) == str(sanitize_device(other))

    def __hash__(self):
        return hash(str(self))


cpu = Device()
_devices, _default = {"cpu": cpu}, {"device": cpu}
if torch.cuda.device_count():  # as in HeAT, the ranks of a node use its GPUs in turn
    gpu = _devices["gpu"] = _devices["cuda"] = Device("gpu", MPI.COMM_WORLD.rank % torch.cuda.device_count())


def sanitize_device(device=None):
    """Returns a device by its name, or the default."""
    if device is None or isinstance(device, Device):
        return device or _default["device"]
    kind, _, number = str(device).strip().lower().partition(":")
    if kind not in _devices or number and not number.isdecimal():
        raise ValueError(f"[sanitize_device] got {device!r}; expected one of {', '.join(_devices)}")
    known = _devices[kind]
    return known if kind == "cpu" or not number or int(number) == known.device_id else Device("gpu", int(number))


def get_device():
    """Returns the default device."""
    return _default["device"]


def known_devices():
    """Returns the devices of this rank."""
    return tuple(dict.fromkeys(_devices.values()))


def use_device(device=None):
    """Changes the default device."""
    _default["device"] = sanitize_device(device)


_known = {}  # HeAT's communicator for each of heatpp's, by its handle; both exist until the end


class Communication:
    """The base of communicators, without functions of its own."""

    def __init__(self):
        raise NotImplementedError("[Communication] got an abstract communicator; expected MPICommunication")

    @staticmethod
    def is_distributed():
        raise NotImplementedError("[is_distributed] got an abstract communicator; expected MPICommunication")

    def chunk(self, shape, split):
        raise NotImplementedError("[chunk] got an abstract communicator; expected MPICommunication")


class MPICommunication(Communication):
    """A communicator with HeAT's interface. All methods except those for splits are mpi4py's, which takes tensors as NumPy arrays."""

    def __init__(self, handle=None):
        self.handle = MPI.COMM_WORLD if handle is None else handle
        self.rank, self.size = self.handle.rank, self.handle.size

    @property
    def ours(self):
        """heatpp's communicator of these ranks. Its arrays refer to this object. Collective if it is new."""
        found = C.Communicator(self.handle)
        _known.setdefault(found.handle, self)
        return found

    def is_distributed(self):
        return self.size > 1

    def __eq__(self, other):
        return isinstance(other, MPICommunication) and self.handle == other.handle

    def __hash__(self):
        return hash(self.size)

    def chunk(self, shape, split, rank=None, w_size=None, sparse=False):
        """Returns the offset, shape and slices of a rank's share."""
        shape, size, rank = tuple(shape), w_size or self.size, self.rank if rank is None else rank
        if split is None:
            return 0, shape, tuple(slice(0, n) for n in shape)
        split = sanitize_axis(shape, split)
        each, more = divmod(shape[split], size)
        start, extent = rank * each + min(rank, more), each + (rank < more)
        whole = tuple(slice(start, start + extent) if axis == split else slice(0, n) for axis, n in enumerate(shape))
        return start, tuple(extent if axis == split else n for axis, n in enumerate(shape)), whole

    def counts_displs_shape(self, shape, axis):
        """Returns the count and offset of each rank, and the shape of this rank's share."""
        parts = [self.chunk(shape, axis, rank) for rank in range(self.size)]
        return tuple(part[1][axis] for part in parts), tuple(part[0] for part in parts), parts[self.rank][1]

    def Split(self, color=0, key=0):
        return MPICommunication(self.handle.Split(color, key))

    def __getattr__(self, name):
        function = getattr(self.handle, name)
        if not name[:1].isupper():
            return function
        buffer = lambda each: each.larray.numpy() if hasattr(each, "larray") else each.numpy() if isinstance(each, torch.Tensor) else each
        return lambda *given, **named: function(*map(buffer, given), **{key: buffer(value) for key, value in named.items()})


def get_comm():
    """Returns the default communicator."""
    return _default["comm"]


def sanitize_comm(comm=None):
    """Returns a communicator, or the default."""
    if comm is not None and not isinstance(comm, MPICommunication):
        raise TypeError(f"[sanitize_comm] got {type(comm).__name__}; expected a communicator")
    return comm or get_comm()


def use_comm(comm=None):
    """Changes the default communicator."""
    _default["comm"] = comm or MPI_WORLD


def together(comm, function, *given):
    """Returns the result of a local function. If it throws on one rank, all ranks throw. Collective."""
    found = error = None
    try:
        found = function(*given)
    except Exception as thrown:  # of any kind, because other ranks wait
        error = thrown
    errors = [each for each in comm.handle.allgather(error and (type(error).__name__, str(error))) if each]
    if errors:
        raise error or getattr(builtins, errors[0][0], RuntimeError)(errors[0][1])
    return found


def sanitize_axis(shape, axis):
    """Returns axes counted from the front."""
    axis = tuple(axis.tolist() if hasattr(axis, "tolist") else axis) if isinstance(axis, (list, torch.Tensor)) else axis
    if axis is None or isinstance(axis, tuple):
        wrong = next((each for each in axis or () if not isinstance(each, (int, np.integer))), None)
        if wrong is not None:
            raise TypeError(f"[sanitize_axis] got axis {wrong!r}; expected a whole number")
        return axis and tuple(sanitize_axis(shape, each) for each in axis)
    if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        raise TypeError(f"[sanitize_axis] got axis {axis!r}; expected a whole number")
    if not -max(len(shape), 1) <= axis < max(len(shape), 1):
        raise C.AxisError(f"[sanitize_axis] got axis {axis} of {len(shape)}; expected one of the array's")
    return axis % len(shape) if shape else None


def comm_of(comm):
    """Returns HeAT's communicator for one of heatpp's: the one with which an array was made, or a new one. Local."""
    if comm.handle not in _known:
        _known[comm.handle] = MPICommunication(MPI.Comm.fromhandle(comm.handle))
    return _known[comm.handle]


MPI_WORLD = _known[C.world().handle] = MPICommunication()
_default["comm"] = MPI_WORLD
