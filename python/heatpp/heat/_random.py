"""HeAT's random numbers: heatpp's, with HeAT's shapes and states."""

import builtins

import torch

from .. import _heatpp as C
from . import types
from ._factories import created
from ._ranks import MPI_WORLD


def _of_shape(function, number):
    """Returns numbers for extents given one by one or together; without extents, one number, or an array with one."""
    def call(*d, dtype=types.float32, split=None, device=None, comm=None):
        if types.heat_type_is_exact(dtype):
            raise ValueError(f"[random] got {types.canonical_heat_type(dtype).__name__}; expected floats")
        shape = d[0] if builtins.len(d) == 1 and isinstance(d[0], (tuple, list)) else d if d or number else (1,)
        parts = [created(function, shape, dtype=types.real_of(dtype), split=split, device=device, comm=comm) for _ in range(1 + types.heat_type_is_complexfloating(dtype))]
        found = parts[0] if builtins.len(parts) == 1 else (parts[0] + parts[1] * 1j).astype(dtype)
        return found.item() if number and not d else found
    return call


_state = {"name": "Batchparallel", "seed": 0, "local": False}


def start(seed=None):
    """Seeds the generator and PyTorch's; with Batchparallel, each rank differently."""
    C.random.seed() if seed is None else C.random.seed(seed)
    _state.update(seed=C.random.get_state().key if seed is None else seed, local=False)
    torch.manual_seed((_state["seed"] + (MPI_WORLD.rank if _state["name"] == "Batchparallel" else 0)) % 2**63)


def get_state():
    """Returns the name of a generator, its seed and its position, or, for Batchparallel, the rank's seed. The numbers are the same for both."""
    if _state["name"] == "Threefry":
        return "Threefry", _state["seed"], C.random.get_state().position, 0, 0.0
    return "Batchparallel", None if _state["local"] else _state["seed"], _state["seed"] + MPI_WORLD.rank, 0, 0.0


def set_state(state):
    """Restores a state of get_state. Batchparallel restarts. Collective if a rank's own seed is given, which must be one common seed plus the rank."""
    if not isinstance(state, tuple) or builtins.len(state) not in (3, 5):
        raise TypeError(f"[set_state] got {state!r}; expected a tuple of 3 or 5")
    name, seed, at = state[:3]
    if name not in ("Threefry", "Batchparallel"):
        raise ValueError(f"[set_state] got {name!r}; expected Threefry or Batchparallel")
    _state["name"] = name
    if name == "Threefry":
        start(seed)
        C.random.set_state(C.random.get_state()._replace(position=at % 2**64))
    elif seed is not None:
        start(seed)
    else:
        seeds = MPI_WORLD.handle.allgather(at)
        if seeds != [*range(seeds[0], seeds[0] + MPI_WORLD.size)]:
            raise ValueError(f"[set_state] got the seeds {seeds} of the ranks; expected that of rank 0 and their numbers")
        start(seeds[0])
    _state["local"] = seed is None


def randint(low, high=None, size=None, dtype=types.int32, split=None, device=None, comm=None):
    """Returns integers of an interval."""
    if not types.heat_type_is_exact(dtype):
        raise ValueError(f"[randint] got {types.canonical_heat_type(dtype).__name__}; expected whole numbers")
    return created(C.random.randint, low, high, () if size is None else size, dtype=dtype, split=split, device=device, comm=comm)


functions = {"seed": start, "get_state": get_state, "set_state": set_state, "randint": randint, "random_integer": randint,
             **{name: _of_shape(getattr(C.random, name), name in ("rand", "randn")) for name in "rand randn random random_sample ranf sample standard_normal".split()}}
