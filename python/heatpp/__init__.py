"""Distributed arrays, analytics and files: heatpp's functions on arrays that are split over the ranks of MPI.

All ranks run the same program. The docstring of a function says what it returns, how the result is split and what it communicates.
"""

from . import _start  # before the library, whose requirements it checks
from ._built import version as __version__  # noqa: F401
from ._heatpp import *  # noqa: F401,F403
from ._api import *  # noqa: F401,F403
from ._estimators import *  # noqa: F401,F403
from ._scoring import *  # noqa: F401,F403
from ._selection import *  # noqa: F401,F403
from . import _sparse  # noqa: F401
from . import nn  # noqa: F401

__array_api_version__ = "2025.12"
