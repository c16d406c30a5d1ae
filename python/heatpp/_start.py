"""Loads the library and makes all ranks end together."""

import atexit
import builtins
import importlib.metadata
import sys

from . import _built


def _check_python():
    """Checks Python's version, because each has modules of its own."""
    found = ".".join(map(str, sys.version_info[:2]))
    if found != _built.python:
        raise ImportError(f"[heatpp] got Python {found}; expected Python {_built.python}, for which heatpp was built: build heatpp again with -DPython_EXECUTABLE={sys.executable}")


def _check_torch():
    """Checks torch's version: if another LibTorch were loaded first, heatpp would use it instead of its own."""
    try:
        found = importlib.metadata.version("torch").split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return
    if found != _built.torch:
        raise ImportError(f"[heatpp] got torch {found}; expected torch {_built.torch}, for which heatpp was built: build heatpp again for yours")


def _check_mpi():
    """Checks that mpi4py, if it is loaded, uses the same MPI."""
    theirs, ours = sys.modules.get("mpi4py.MPI"), _heatpp._mpi_version()
    found = theirs and theirs.Get_library_version().rstrip("\0")
    if theirs and (found != ours or theirs._sizeof(theirs.Comm) != _heatpp._comm_bytes):  # if they differ, both call the functions of the first library
        of = "another MPI" if found == ours else found.splitlines()[0]
        raise ImportError(f"[heatpp] got mpi4py for {of}; expected one for {ours.splitlines()[0]}, for which heatpp was built")


_check_python()
_check_torch()
from . import _heatpp  # noqa: E402

_check_mpi()
atexit.register(_heatpp._finish)  # before mpi4py ends MPI, which it does later than atexit
_print_exception = sys.excepthook


def _end_all(code):
    """Ends all ranks, because the others would wait for this one forever."""
    if _heatpp.world().size > 1:
        print(f"heatpp: rank {_heatpp.world().rank} of {_heatpp.world().size} ends the program", file=sys.stderr)
        sys.stdout.flush(), sys.stderr.flush()
        _heatpp._abort(code)


def _uncaught(kind, error, trace):
    _print_exception(kind, error, trace)
    _end_all(1)


class _Exit(SystemExit):
    """The exception of sys.exit. It ends all ranks if the interpreter asks for the code, in which case there is no calling frame."""

    def __init__(self, code=None):
        super().__init__(code)
        self._code = code

    @property
    def code(self):
        if sys._getframe().f_back is None and self._code not in (None, 0):
            if not isinstance(self._code, int):
                print(self._code, file=sys.stderr)
            _end_all(self._code if isinstance(self._code, int) else 1)
        return self._code


def _exit(status=None, /):
    """Exits by raising SystemExit. If the status is not 0 and nothing catches the exception, it ends all ranks."""
    raise _Exit(status)


sys.excepthook, sys.exit = _uncaught, _exit
if hasattr(builtins, "exit"):
    type(builtins.exit).__call__ = lambda self, code=None: _exit(code)
for _name in ("linalg", "fft", "random", "io", "sparse", "datasets", "graph", "spatial"):
    sys.modules[f"heatpp.{_name}"] = getattr(_heatpp, _name)
