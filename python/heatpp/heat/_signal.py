"""HeAT's convolutions."""

import math

import numpy as np
import torch

from .. import _heatpp as C
from . import types
from ._arrays import DNDarray, array
from ._ranks import together

_MODES = ("full", "same", "valid")


def _operands(name, a, v, mode, axes):
    """Returns signal and kernel as arrays of one type with at least these axes."""
    if mode not in _MODES:
        raise ValueError(f"[{name}] got mode {mode!r}; expected {', '.join(_MODES[:-1])} or {_MODES[-1]}")
    a, v = (each if isinstance(each, DNDarray) else array(each, ndmin=-axes if np.isscalar(each) else 0) for each in (a, v))
    kind = types.promote_types(a.dtype, v.dtype)
    return a.astype(kind), v.astype(kind)


def convolve(a, v, mode="full", stride=1):
    """Returns every stride-th element of the convolution along the last axis."""
    a, v = _operands("convolve", a, v, mode, 1)
    return DNDarray(C.convolve(a._x, v._x, mode, stride))


def _plane(block, kernel, stride):
    """Returns the elements of the convolution of blocks with kernels, one for each or one for all, that need no values outside."""
    extents = [max(0, (n - m) // s + 1) for n, m, s in zip(block.shape[-2:], kernel.shape[-2:], stride)]
    count = math.prod(block.shape[:-2])
    if not count or 0 in extents:
        return block.new_zeros((*block.shape[:-2], *extents))
    kernels = kernel.flip((-2, -1)).reshape(-1, 1, *kernel.shape[-2:]).expand(count, -1, -1, -1)
    found = torch.nn.functional.conv2d(block.reshape(1, count, *block.shape[-2:]), kernels, stride=stride, groups=count)
    return found.reshape(*block.shape[:-2], *extents)


def convolve2d(a, v, mode="full", stride=(1, 1)):
    """Returns every stride-th element of the convolution along the last two axes, split as the signal. The kernel has two axes, or the leading axes
    of the signal, and is gathered. If the signal is split along one of the last two axes, each rank fetches as many rows as the kernel has
    from the ranks behind it, in one exchange. A kernel that is larger than the signal takes its place. Collective. Throws ValueError if it is larger along
    one axis and smaller along the other, for even kernels with mode same, and for strides with it."""
    a, v = _operands("convolve2d", a, v, mode, 2)
    if min(a.ndim, v.ndim) < 2 or v.ndim > 2 and a.ndim != v.ndim and a.ndim > 2:
        raise ValueError(f"[convolve2d] got {a.ndim} and {v.ndim} axes; expected at least two, and two or as many for the kernel")
    if v.shape[-2:] != a.shape[-2:] and all(m >= n for m, n in zip(v.shape[-2:], a.shape[-2:])):
        a, v = v, a
    _check(a, v, mode, stride)
    kernel = v.resplit(None)
    before = [0 if mode == "valid" else m // 2 if mode == "same" else m - 1 for m in v.shape[-2:]]
    x = C.pad(a._x, [(0, 0)] * (a.ndim - 2) + [(each, each) for each in before])
    if x.split is None or x.split < x.ndim - 2:
        part = v.shape[:-2] and x.split is not None
        mine = kernel.larray if not part else DNDarray(C.redistribute(C.resplit(v._x, x.split), DNDarray(x).lshape_map[:, x.split].tolist())).larray
        return array(together(a.comm, _plane, DNDarray(x).larray, mine, stride), is_split=x.split, comm=a.comm)
    return _of_blocks(DNDarray(C.balance(x)), kernel.larray, stride)


def _check(a, v, mode, stride):
    if issubclass(a.dtype, (types.unsignedinteger, types.bool_)):
        raise TypeError(f"[convolve2d] got {a.dtype.__name__}; expected signed whole numbers, floats or complex numbers")
    if any(m > n for m, n in zip(v.shape[-2:], a.shape[-2:])):
        raise ValueError(f"[convolve2d] got shapes {a.shape} and {v.shape}; expected a kernel that is smaller along both of the last axes, or along none")
    if v.ndim > 2 and v.shape[:-2] != a.shape[:-2]:
        raise ValueError(f"[convolve2d] got shapes {a.shape} and {v.shape}; expected the same leading axes, or two axes for the kernel")
    if len(stride) != 2 or min(stride) < 1:
        raise ValueError(f"[convolve2d] got stride {stride}; expected two positive numbers")
    if mode == "same" and (max(stride) > 1 or not all(m % 2 for m in v.shape[-2:])):
        raise ValueError(f"[convolve2d] got a kernel {v.shape[-2:]} and stride {stride} with mode same; expected odd extents and (1, 1)")


def _of_blocks(x, kernel, stride):
    """Convolves an array that is split along one of the last two axes: each rank computes the elements whose windows begin in its block."""
    axis = x.split - x.ndim
    block = torch.from_numpy(np.asarray(C.array_with_halos(x._x, 0, kernel.shape[axis] - 1)))
    mine, offset, step = x.lshape[axis], x.counts_displs()[1][x.comm.rank], stride[axis]
    skipped = min(-offset % step, block.shape[axis])
    windows = max(0, min(mine, block.shape[axis] - kernel.shape[axis] + 1) - skipped)
    extent = windows + kernel.shape[axis] - 1 if windows else 0
    return array(together(x.comm, _plane, block.narrow(axis, skipped if extent else 0, extent), kernel, stride), is_split=x.split, comm=x.comm).balance()
