"""heatpp for the array API's suite on several ranks: a namespace whose factories split arrays along their first axis."""

import functools

import heatpp
from heatpp import *  # noqa: F401,F403
from heatpp import __array_api_version__, __array_namespace_info__, fft, linalg  # noqa: F401


def _split(function):
    @functools.wraps(function)
    def cut(*arguments, **options):
        found = function(*arguments, **options)
        return heatpp.resplit(found, 0) if found.ndim and found.split is None else found
    return cut


@functools.wraps(heatpp.from_dlpack)
def from_dlpack(x, /, **options):
    return heatpp.from_dlpack(x, split=getattr(x, "split", None), **options)


for _name in ("arange", "asarray", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like", "zeros", "zeros_like"):
    globals()[_name] = _split(getattr(heatpp, _name))
