"""Which HeAT's rules the functions follow where HeAT 1.9 differs from 1.8."""

import os

_VERSIONS = ("1.8", "1.9")
_chosen = {}


def use_rules(version):
    """Follows the rules of HeAT "1.9", which are the default, or "1.8" from now on. Local; all ranks choose the same."""
    if version not in _VERSIONS:
        raise ValueError(f"[use_rules] got {version!r}; expected one of {', '.join(_VERSIONS)}, also as HEATPP_HEAT")
    _chosen["version"] = version


def get_rules():
    """Returns the version of HeAT whose rules are followed."""
    return _chosen["version"]


def old():
    """Whether the rules are those of 1.8."""
    return _chosen["version"] == "1.8"


use_rules(os.environ.get("HEATPP_HEAT") or "1.9")
