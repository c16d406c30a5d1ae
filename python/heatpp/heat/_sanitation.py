"""HeAT's checks of arguments."""

import torch

from .. import _heatpp as C
from ._arrays import DNDarray, sanitize_in
from ._ranks import sanitize_device
from .types import floating


def sanitize_out(out, output_shape, output_split, output_device, output_comm=None):
    """Throws if `out` cannot hold a result."""
    sanitize_in(out)
    if (out.shape, out.split, out.device) != (tuple(output_shape), output_split, sanitize_device(output_device)):
        raise ValueError(f"[out] got shape {out.shape}, split {out.split} on {out.device}; expected {tuple(output_shape)}, {output_split} on {output_device}")


def sanitize_in_nd_realfloating(input, inputname, allowed_dims):
    """Throws if `input` is no array of floats with one of these numbers of axes."""
    sanitize_in(input)
    if input.ndim not in allowed_dims:
        raise ValueError(f"[{inputname}] got {input.ndim} axes; expected {' or '.join(map(str, allowed_dims))}")
    if not issubclass(input.dtype, floating):
        raise TypeError(f"[{inputname}] got {input.dtype.__name__}; expected float32 or float64")


def sanitize_sequence(seq):
    """Returns a list of a list, a tuple, or an array that is not split."""
    if isinstance(seq, (list, tuple)):
        return list(seq)
    if isinstance(seq, DNDarray) and seq.split is None:
        return seq.tolist()
    raise TypeError(f"[sanitize_sequence] got {type(seq).__name__}; expected a list, a tuple or an array that is not split")


def sanitize_in_tensor(x):
    """Throws if x is no tensor of torch."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"[sanitize_in_tensor] got {type(x).__name__}; expected a tensor of torch")


def sanitize_infinity(x):
    """Returns the largest number of the type of an array or a tensor."""
    kind = getattr(x, "larray", x).dtype
    return (torch.finfo if kind.is_floating_point else torch.iinfo)(kind).max


def sanitize_lshape(array, tensor):
    """Throws if a tensor cannot be this rank's block of an array."""
    fits = tensor.ndim == array.ndim and all(a == b or axis == array.split or array.split is None and a == 0 for axis, (a, b) in enumerate(zip(tensor.shape, array.shape)))
    if not fits:
        raise ValueError(f"[sanitize_lshape] got a tensor of shape {tuple(tensor.shape)}; expected a block of {array.shape} with split {array.split}")


def sanitize_memory_layout(x, order="C"):
    """Returns a tensor with its elements in row order (C) or column order (F)."""
    if order not in ("C", "F"):
        raise NotImplementedError(f"[sanitize_memory_layout] got order {order!r}; expected C or F")
    axes = tuple(reversed(range(x.ndim)))
    return x.contiguous() if order == "C" else x.permute(axes).contiguous().permute(axes)


def sanitize_distribution(*args, target, diff_map=None):
    """Returns arrays with the split of a target, or with the blocks of a table along its axis; an array with one element there is on all ranks."""
    sanitize_in(target)
    made = [_as_target(each, target, diff_map) for each in args]
    return made[0] if len(made) == 1 else tuple(made)


def _as_target(x, target, table):
    sanitize_in(x)
    if x.comm != target.comm:
        raise NotImplementedError("[sanitize_distribution] got arrays on different communicators; expected the same")
    if target.split is None or target.comm.size == 1:
        if x.split is not None and target.comm.size > 1:
            raise NotImplementedError(f"[sanitize_distribution] got split {x.split}; expected none, as the target")
        return x
    axis, table = target.split, target.lshape_map if table is None else table
    extent = int(table[:, axis].sum())
    if x.shape[axis] == 1 and extent > 1:
        return DNDarray(C.resplit(x._x, None))
    if x.shape[axis] != extent or x.split not in (None, axis):
        raise ValueError(f"[sanitize_distribution] got shape {x.shape} with split {x.split}; expected {extent} along axis {axis}, and split {axis} or none")
    return DNDarray(C.redistribute(C.resplit(x._x, axis), table[:, axis].tolist()))


def scalar_to_1d(x):
    """Returns an array with one element as an array with one axis."""
    if x.ndim > 1 or x.size != 1:
        raise ValueError(f"[scalar_to_1d] got shape {x.shape}; expected one element")
    return DNDarray(C.reshape(x._x, (1,)))
