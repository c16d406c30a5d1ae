"""HeAT's printing of arrays."""

import re

import numpy as np
import torch

from .. import _heatpp as C
from ._arrays import DNDarray

print_options = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 120, "sci_mode": None, "local": False}


def _text(tensor, before, shortened=False):
    """Returns the numbers in PyTorch's format, with lines aligned below the first."""
    theirs = torch._tensor_str.PRINT_OPTS
    known = {name: getattr(theirs, name) for name in print_options if name != "local"}
    try:
        torch.set_printoptions(**{name: value for name, value in print_options.items() if name not in ("local", "threshold", "linewidth")},
                               threshold=0 if shortened else float("inf"), linewidth=print_options["linewidth"] + len("tensor(") - len(before))
        text = re.sub(r"(, (dtype|size)=.*)?\)$", "", str(tensor).removeprefix("tensor("))
    finally:
        torch.set_printoptions(**known)
    return before + text.replace("\n" + " " * len("tensor("), "\n" + " " * len(before))


def _whole(self):
    """Returns all elements, or the first and last of each axis, on rank 0; with local printing, each rank's block. Collective."""
    if print_options["local"]:
        return f"{_text(self.larray, '')}, device: {self.device}, split: {self.split}"
    shown = self._x
    if self.size > print_options["threshold"]:
        ends = print_options["edgeitems"]
        for axis, n in enumerate(self.shape):
            if n > 2 * ends:  # one more for the dots
                shown = C.take(shown, C.array([*range(ends + 1), *range(n - ends, n)]), axis)
    text = _text(torch.from_numpy(shown.numpy()), "DNDarray(", self.size > print_options["threshold"])
    return f"{text}, dtype=ht.{self.dtype.__name__}, device={self.device}, split={self.split})" if self.comm.rank == 0 else ""


def _block(self):
    """Returns this rank's block."""
    about = f"MPI-rank: {self.comm.rank}, Shape: {self.shape}, Split: {self.split}, Local Shape: {self.lshape}, Device: {self.device}, Dtype: {self.dtype.__name__}"
    return f"DNDarray({about}, Data:\n{_text(self.larray, ' ' * 9)})"


def get_printoptions():
    """Returns the options of printing."""
    return {name: value for name, value in print_options.items() if name != "local"}


_PROFILES = {"default": (4, 1000, 3, 120), "short": (2, 1000, 2, 120), "full": (4, np.inf, 3, 120)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Sets the options of printing."""
    if profile is not None:
        print_options.update(zip(("precision", "threshold", "edgeitems", "linewidth", "sci_mode"), (*_PROFILES[profile], None)))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth, "sci_mode": sci_mode}
    print_options.update({name: value for name, value in given.items() if value is not None})


def local_printing():
    """Makes each rank print its block."""
    print_options["local"] = True


def global_printing():
    """Makes rank 0 print the whole array."""
    print_options["local"] = False


DNDarray.__str__, DNDarray.__repr__ = _whole, _block
