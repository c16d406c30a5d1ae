"""HeAT's tests of arguments."""

from .. import _heatpp as C
from ._arrays import DNDarray, sanitize_in
from ._ranks import sanitize_device
from .types import floating


def sanitize_out(out, output_shape, output_split, output_device, output_comm=None):
    """Fails for what cannot take a result."""
    sanitize_in(out)
    if (out.shape, out.split, out.device) != (tuple(output_shape), output_split, sanitize_device(output_device)):
        raise ValueError(f"[out] got shape {out.shape}, split {out.split} on {out.device}; expected {tuple(output_shape)}, {output_split} on {output_device}")


def sanitize_in_nd_realfloating(input, inputname, allowed_dims):
    """Fails for what is no array of so many axes and of floats."""
    sanitize_in(input)
    if input.ndim not in allowed_dims:
        raise ValueError(f"[{inputname}] got {input.ndim} axes; expected {' or '.join(map(str, allowed_dims))}")
    if not issubclass(input.dtype, floating):
        raise TypeError(f"[{inputname}] got {input.dtype.__name__}; expected float32 or float64")


def sanitize_sequence(seq):
    """A list of a list, a tuple, or an array that is not split."""
    if isinstance(seq, (list, tuple)):
        return list(seq)
    if isinstance(seq, DNDarray) and seq.split is None:
        return seq.tolist()
    raise TypeError(f"[sanitize_sequence] got {type(seq).__name__}; expected a list, a tuple or an array that is not split")


def scalar_to_1d(x):
    """An array of one element with one axis."""
    if x.ndim > 1 or x.size != 1:
        raise ValueError(f"[scalar_to_1d] got shape {x.shape}; expected one element")
    return DNDarray(C.reshape(x._x, (1,)))
