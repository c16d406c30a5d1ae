"""HeAT's arrays."""

import builtins
import inspect
import sys

import numpy as np
import torch

from .. import _heatpp as C
from . import _rules
from ._ranks import Device, MPICommunication, comm_of, sanitize_axis, sanitize_comm, sanitize_device, together
from .types import canonical_heat_type, complexfloating, datatype, integer, ours_of


_lent = C.DNDarray.larray.fget  # also works for a selection, which then has memory of its own: a tensor cannot be read-only


def _shared(x):
    """Returns this rank's block as a torch tensor that shares its memory."""
    return torch.from_numpy(_lent(x)) if x.device == "cpu" else torch.from_dlpack(C.copy(x) if isinstance(x, C.View) else x)


class Wrapped:
    """An object with a value of heatpp in _x."""

    def __init__(self, x):
        self._x = x


class DNDarray(Wrapped):
    """An array of heatpp with HeAT's rules."""

    _block = __partitions_dict__ = halo_prev = halo_next = None  # until they are asked for

    def __init__(self, array, gshape=None, dtype=None, split=None, device=None, comm=None, balanced=None):
        """Takes an array of heatpp, or every rank's block, from which all except split and comm follows. Collective for blocks."""
        self._x = _from_block(array, split, comm) if isinstance(array, torch.Tensor) else array
        if gshape is not None and tuple(gshape) != self.shape:
            raise ValueError(f"[DNDarray] got blocks that make up {self.shape}; expected {tuple(gshape)}")
        if dtype is not None:
            self._x = self._x.astype(ours_of(dtype))

    @property
    def larray(self):
        """This rank's block as a tensor that shares its memory."""
        if self._block is None:
            self._block = _shared(self._x)
        return self._block

    @larray.setter
    def larray(self, block):
        """Sets the block of every rank. Collective."""
        together(self.comm, self._check_block, block)
        self._set(_from_block(block, self.split, self.comm))

    def _check_block(self, block):
        if not isinstance(block, torch.Tensor):
            raise TypeError(f"[larray] got {type(block).__name__}; expected a tensor of torch")
        if block.ndim != self.ndim or any(a != b for axis, (a, b) in enumerate(zip(block.shape, self.shape)) if axis != self.split):
            raise ValueError(f"[larray] got shape {tuple(block.shape)}; expected a block of {self.shape} with split {self.split}")

    def _set(self, x):
        """Replaces the array; tensors that were handed out do not change."""
        self._x, self._block, self.__partitions_dict__, self.halo_prev, self.halo_next = x, None, None, None, None
        return self

    def _written(self):
        """Updates the tensor of a selection after a function in place has written to the selection."""
        if self._block is not None and isinstance(self._x, C.View):
            self._block.data = _shared(self._x)
        return self

    dtype = property(lambda self: canonical_heat_type(self._x.dtype))
    device = property(lambda self: sanitize_device(self._x.device))
    comm = property(lambda self: comm_of(self._x.comm))
    shape = gshape = property(lambda self: tuple(self._x.shape))
    lshape = property(lambda self: tuple(self._x.lshape))
    size = gnumel = property(lambda self: self._x.size)
    lnumel = property(lambda self: self.larray.numel())
    nbytes = gnbytes = property(lambda self: self._x.nbytes)
    lnbytes = property(lambda self: self.larray.numel() * self.larray.element_size())
    ndim, split = property(lambda self: self._x.ndim), property(lambda self: self._x.split)
    balanced = property(lambda self: self._x.is_balanced())
    stride = property(lambda self: self.larray.stride)
    strides = property(lambda self: self.larray.stride())
    lshape_map = property(lambda self: self.create_lshape_map())
    T, imag = (property(lambda self, name=name: DNDarray(getattr(self._x, name))) for name in ("T", "imag"))
    real = property(lambda self: DNDarray(self._x.real) if issubclass(self.dtype, complexfloating) else self)

    @property
    def lloc(self):
        """This rank's block, with the rules of 1.8."""
        if not _rules.old():
            raise AttributeError("[lloc] is of HeAT 1.8; expected larray, or use_rules('1.8')")
        return self.larray

    def create_lshape_map(self, force_check=False):
        """Returns the shape of each rank's block."""
        return torch.tensor(self.comm.handle.allgather(self.lshape), dtype=torch.int64).reshape(self.comm.size, self.ndim)

    def counts_displs(self):
        """Returns the count and offset of each rank along the split axis."""
        if self.split is None:
            raise ValueError("[counts_displs] got an array that is not split; expected a split one")
        counts = self.lshape_map[:, self.split].tolist()
        return tuple(counts), tuple(sum(counts[:rank]) for rank in range(len(counts)))

    def is_balanced(self, force_check=False):
        return self._x.is_balanced()

    def is_distributed(self):
        return self.split is not None and self.comm.is_distributed()

    def astype(self, dtype, copy=True, device=None):
        found = self._x.astype(ours_of(dtype))
        found = found if device is None else found.to_device(str(sanitize_device(device)))
        return DNDarray(found) if copy else self if (found.dtype, found.device) == (self._x.dtype, self._x.device) else self._set(found)

    def cpu(self):
        return self._on("cpu")

    def gpu(self):
        return self._on("gpu")

    def _on(self, kind):
        """The array, if it is on such a device."""
        return self if self.device.device_type == kind else DNDarray(self._x.to_device(kind))

    def item(self):
        if self.size != 1:
            raise ValueError(f"[item] got {self.size} elements; expected one")
        return self._x.item()

    def numpy(self):
        return self._x.numpy()

    def tolist(self, keepsplit=False):
        return self.larray.tolist() if keepsplit else self._x.tolist()

    def resplit_(self, axis=None):
        axis = sanitize_axis(self.shape, axis)
        return self if axis == self.split else self._set(C.resplit(self._x, axis))  # a selection stays a selection

    def balance_(self):
        return self if self._x.is_balanced() else self._set(C.balance(self._x))

    def redistribute_(self, lshape_map=None, target_map=None):
        return self._set(redistributed(self, lshape_map, target_map))

    def collect_(self, target_rank=0):
        """Moves all blocks to one rank."""
        if not isinstance(target_rank, int):
            raise TypeError(f"[collect_] got {target_rank!r}; expected a rank")
        return self if self.split is None and target_rank < self.comm.size else self._set(C.collect(self._x, target_rank))

    def get_halo(self, halo_size, prev=True, next=True):
        """Fetches the neighbors of this rank's block into halo_prev and halo_next, which are None if there is no neighbor."""
        if not isinstance(halo_size, int):
            raise TypeError(f"[get_halo] got {halo_size!r}; expected a whole number")
        if halo_size < 0:
            raise ValueError(f"[get_halo] got {halo_size}; expected no negative number")
        if not self.is_distributed():
            return
        block = torch.from_numpy(np.asarray(C.array_with_halos(self._x, halo_size if prev else 0, halo_size if next else 0)))
        mine, offset = self.lshape[self.split], self.counts_displs()[1][self.comm.rank]
        before = min(halo_size, offset) if prev and mine else 0
        behind = block.shape[self.split] - before - mine
        self.halo_prev = block.narrow(self.split, 0, before) if before else None
        self.halo_next = block.narrow(self.split, before + mine, behind) if behind else None

    @property
    def array_with_halos(self):
        """Returns this rank's block between the halos that get_halo fetched."""
        parts = [each for each in (self.halo_prev, self.larray, self.halo_next) if each is not None]
        return torch.cat(parts, self.split) if len(parts) > 1 else parts[0]

    def __getitem__(self, key):
        if not _rules.old() and (key is ... or isinstance(key, (slice, tuple)) and key in (slice(None), ())):
            return self
        return DNDarray(self._x[_key(self._places(key))])

    def _places(self, key):
        """Returns the positions of nonzero by the rules of 1.8, which have a row for each element, as one array for each axis."""
        rows = _rules.old() and isinstance(key, DNDarray) and key.ndim == 2 and key.shape[1] == self.ndim and issubclass(key.dtype, integer)
        return tuple(key[:, axis] for axis in range(self.ndim)) if rows else key

    def __setitem__(self, key, value):
        self._x[_key(self._places(key))] = value._x if isinstance(value, DNDarray) else value if np.isscalar(value) else _numbers(value)
        self._written()

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.larray, dtype=dtype)

    def __array_function__(self, function, kinds, given, named):
        """Maps NumPy's and PyTorch's functions to those of the same name."""
        ours = getattr(sys.modules[__package__], function.__name__, None)
        return NotImplemented if ours is None else ours(*given, **named)

    def __array_ufunc__(self, function, method, *given, **named):
        return self.__array_function__(function, None, given, named) if method == "__call__" else NotImplemented

    @classmethod
    def __torch_function__(cls, function, kinds, given=(), named=None):
        return cls.__array_function__(None, function, kinds, given, named or {})

    def __len__(self):
        return len(self._x)

    def __contains__(self, value):
        return getattr(value, "_x", value) in self._x

    def __copy__(self, known=None):
        return DNDarray(C.copy(self._x))

    __deepcopy__, __iter__, __format__ = __copy__, C.DNDarray.__iter__, C.DNDarray.__format__

    def __round__(self, digits=0):
        return round(self.item(), digits)

    def __torch_proxy__(self):
        return torch.ones(1, dtype=torch.int8).as_strided(self.shape, [0] * self.ndim)


def _as_number(kind):
    def call(self):
        if self.size != 1:
            raise TypeError(f"[{kind.__name__}] got {self.size} elements; expected one")
        return kind(self.item())
    return call


for _name in ("__bool__", "__int__", "__float__", "__complex__"):
    setattr(DNDarray, _name, _as_number(getattr(builtins, _name.strip("_"))))


def _numbers(obj):
    """Returns the elements of a new array as a NumPy array."""
    if isinstance(obj, torch.Tensor):
        return obj.detach().cpu().resolve_conj().numpy()
    if isinstance(obj, (list, tuple)):
        obj = [_numbers(each) if isinstance(each, (list, tuple, torch.Tensor, DNDarray)) else each for each in obj]
    return obj.numpy() if isinstance(obj, DNDarray) else np.asarray(obj)


def _key(key):
    if isinstance(key, tuple):
        return tuple(map(_key, key))
    if isinstance(key, torch.Tensor) and key.ndim == 0:
        return key.item()
    return key._x if isinstance(key, DNDarray) else _numbers(key) if isinstance(key, (torch.Tensor, list)) and len(key) else key


def _inside(value):
    """Returns an argument in the form that heatpp takes."""
    if isinstance(value, Wrapped):
        return value._x
    if isinstance(value, (list, tuple)):
        return type(value)(map(_inside, value)) if type(value) in (list, tuple) else [*map(_inside, value)]
    if isinstance(value, MPICommunication):
        return value.ours
    if isinstance(value, Device):
        return str(value)
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return C.array(_numbers(value))
    return ours_of(value) if isinstance(value, torch.dtype) or inspect.isclass(value) and issubclass(value, datatype) else value


kinds = {C.DNDarray: DNDarray, C.View: DNDarray}  # the classes here for values of heatpp's classes


def _outside(value):
    """Returns a result in the form that HeAT has."""
    kind = kinds.get(type(value))
    if kind:
        return kind(value)
    if isinstance(value, C.dtype):
        return canonical_heat_type(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_outside, value))
    return type(value)(map(_outside, value)) if isinstance(value, (list, tuple)) else value


def sanitize_in(x):
    """Throws if x is no array."""
    if not isinstance(x, DNDarray):
        raise TypeError(f"[sanitize_in] got {type(x).__name__}; expected an array")


def redistributed(x, lshape_map, target_map):
    """Returns an array of heatpp with the blocks of target_map, a table of the shapes of all blocks; lshape_map is that of the current blocks."""
    for table in (lshape_map, target_map):
        if table is not None and not isinstance(table, (torch.Tensor, np.ndarray)):
            raise TypeError(f"[redistribute] got {type(table).__name__}; expected a tensor of the blocks' shapes")
        if table is not None and tuple(table.shape) != (x.comm.size, x.ndim):
            raise ValueError(f"[redistribute] got a table of shape {tuple(table.shape)}; expected {(x.comm.size, x.ndim)}")
    if x.split is None:
        return x._x
    return C.balance(x._x) if target_map is None else C.redistribute(x._x, np.asarray(target_map)[:, x.split].tolist())


def _put(result, out, broadcast=False):
    """Writes a result to `out`, repeated if it may broadcast."""
    if out is None:
        return result
    if isinstance(result, tuple):
        if not isinstance(out, tuple):
            raise TypeError(f"[out] got {type(out).__name__}; expected a tuple")
        if len(out) != len(result):
            raise ValueError(f"[out] got {len(out)} arrays; expected {len(result)}")
        return tuple(_put(*pair) for pair in zip(result, out))
    sanitize_in(out)
    if broadcast and out.shape != result.shape and out.ndim > result.ndim:
        result = DNDarray(C.broadcast_to(result._x, out.shape))
    if out.shape != result.shape:
        raise ValueError(f"[out] got shape {out.shape}; expected {result.shape}")
    out._x[...] = result._x.astype(out._x.dtype)  # out may be a selection
    return out._written()


def laid(x, order):
    """Returns the array with this rank's block in row order (C) or column order (F)."""
    if order not in ("C", "F"):
        raise NotImplementedError(f"[order] got {order!r}; expected C or F")
    return x if order == "C" else DNDarray(C.from_local(np.asfortranarray(x._x.larray), split=x.split, comm=x._x.comm))


def _from_block(block, split, comm=None):
    if isinstance(block, torch.Tensor) and block.is_cuda:
        return C.from_dlpack(block.detach().clone(), split=split, comm=sanitize_comm(comm).ours)
    block = _numbers(block)
    return C.from_local(np.ascontiguousarray(block), split=split, comm=sanitize_comm(comm).ours)


def _again(x, kind, copy, split, is_split, device):
    """Returns an array made of another, which is the same object if nothing changes and no copy is asked for."""
    cut = sanitize_axis(x.shape, split if is_split is None else is_split)
    same = cut is None or cut == x.split
    if not same and (is_split is not None or copy is False):
        raise ValueError(f"[array] got split {cut} for an array of split {x.split}; expected that one, or split and copy")
    if copy is False and kind in (None, x._x.dtype):
        return x
    found = x._x if same else C.resplit(x._x, cut)
    found = found if device is None else found.to_device(str(sanitize_device(device)))
    return DNDarray(C.copy(found) if kind is None else found.astype(kind))


def array(obj, dtype=None, copy=None, ndmin=0, order="C", split=None, is_split=None, device=None, comm=None):
    """Returns an array of numbers that are equal on all ranks, or of each rank's block."""
    if split is not None and is_split is not None:
        raise ValueError("[array] got split and is_split; expected one of them")
    if order != "C":
        return laid(array(obj, dtype, copy, ndmin, "C", split, is_split, device, comm), order)
    kind = None if dtype is None else ours_of(dtype)
    if isinstance(obj, DNDarray) and abs(ndmin) <= obj.ndim and (is_split is None or obj.split is not None):
        return _again(obj, kind, copy, split, is_split, device)
    if device is None and isinstance(obj, torch.Tensor):
        device = str(obj.device)
    comm, device = sanitize_comm(comm), sanitize_device(device)
    if copy is False and isinstance(obj, torch.Tensor) and obj.is_cuda and is_split is None and split is None and obj.ndim >= abs(ndmin) and kind in (None, str(obj.dtype)[6:]):
        made = DNDarray(C.from_dlpack(obj.detach(), comm=comm.ours))
        made._block = obj
        return made
    numbers = _numbers(obj) if is_split is None else together(comm, _numbers, obj)
    if copy is False and hasattr(obj, "dtype") and (split is None or comm.size == 1) and ndmin <= numbers.ndim and kind in (None, numbers.dtype):
        made = DNDarray(C.from_local(numbers, split=sanitize_axis(numbers.shape, split if is_split is None else is_split), comm=comm.ours))
        made._block = obj if isinstance(obj, torch.Tensor) and obj.device.type == "cpu" else None
        return made
    if numbers.dtype == object:
        raise TypeError(f"[array] got {type(obj).__name__}; expected numbers")
    if kind is None and not hasattr(obj, "dtype") and numbers.dtype.kind in "fc":
        kind = C.float32 if numbers.dtype.kind == "f" else C.complex64
    more = (1,) * (abs(ndmin) - numbers.ndim)
    numbers = numbers.reshape(numbers.shape + more if ndmin > 0 else more + numbers.shape)
    if is_split is None:
        return DNDarray(C.array(numbers, dtype=kind, split=sanitize_axis(numbers.shape, split), device=str(device), comm=comm.ours))
    made = _from_block(np.array(numbers), sanitize_axis(numbers.shape, is_split), comm).to_device(str(device))
    return DNDarray(made if kind is None else made.astype(kind))


datatype.array = staticmethod(array)


def asarray(obj, dtype=None, copy=None, order="C", is_split=None, device=None):
    """Returns an array unchanged, or one made of numbers."""
    known = isinstance(obj, DNDarray) and not copy and dtype in (None, obj.dtype) and is_split in (None, obj.split)
    return obj if known else array(obj, dtype, copy=bool(copy), order=order, split=None, is_split=is_split, device=device)
