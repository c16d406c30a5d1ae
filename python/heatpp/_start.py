"""Loads the library, and sees to it that all ranks end together."""

import atexit
import importlib.metadata
import sys

from . import _built


def _check_torch():
    """Another LibTorch than the library's that is loaded first would be taken in its place."""
    try:
        found = importlib.metadata.version("torch").split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return
    if found != _built.torch:
        raise ImportError(f"[heatpp] got torch {found}; expected torch {_built.torch}, for which heatpp was built: build heatpp again for yours")


def _check_mpi():
    """mpi4py, where it is loaded, has to call the same MPI."""
    theirs = sys.modules.get("mpi4py.MPI")
    ours = _heatpp._mpi_version()
    if theirs and theirs.Get_library_version().rstrip("\0") != ours:
        raise ImportError(f"[heatpp] got mpi4py for {theirs.Get_library_version()!r}; expected one for {ours!r}")


_check_torch()
from . import _heatpp  # noqa: E402

_check_mpi()
atexit.register(_heatpp._finish)  # before mpi4py ends MPI, which it does later than atexit
_print_exception = sys.excepthook


def _end_all(kind, error, trace):
    """Other ranks would wait for this one forever."""
    _print_exception(kind, error, trace)
    if _heatpp.world().size > 1:
        print(f"heatpp: rank {_heatpp.world().rank} of {_heatpp.world().size} ends the program", file=sys.stderr, flush=True)
        _heatpp._abort(1)


sys.excepthook = _end_all
for _name in ("linalg", "fft", "random", "io", "sparse", "datasets", "graph", "spatial"):
    sys.modules[f"heatpp.{_name}"] = getattr(_heatpp, _name)
