"""HeAT's file functions: heatpp's functions with HeAT's names of options, and functions that only HeAT has."""

import importlib
import importlib.util
import pathlib
import re

import numpy as np

from .. import _heatpp as C
from . import types
from ._arrays import DNDarray, _inside, array, sanitize_in
from ._ranks import sanitize_axis, sanitize_comm, sanitize_device, together

_KINDS = {".csv": "csv", ".h5": "hdf5", ".hdf5": "hdf5", ".nc": "netcdf", ".nc4": "netcdf", ".zarr": "zarr"}
__all__ = ["load", "save", "load_csv", "save_csv", "load_hdf5", "save_hdf5", "load_netcdf", "save_netcdf", "load_zarr", "save_zarr", "load_multiple_hdf5",
           "load_npy_from_path", "load_csv_from_folder", "size_from_slice", "supports_hdf5", "supports_netcdf", "supports_zarr", "supports_pandas"]


def __getattr__(name):
    """Returns the libraries that HeAT has in this module."""
    if name not in ("h5py", "nc", "zarr"):
        raise AttributeError(f"heatpp.heat.io has no {name}")
    return importlib.import_module({"nc": "netCDF4"}.get(name, name))


def supports_hdf5():
    return True


supports_zarr, supports_netcdf = supports_hdf5, C.io.supports_netcdf


def supports_pandas():
    return importlib.util.find_spec("pandas") is not None


def _is(value, kinds, op, what):
    if not isinstance(value, kinds):
        raise TypeError(f"[{op}] got {value!r}; expected {what}")


def _paths(path, op):
    _is(path, (str, pathlib.Path), op, "a path")
    return pathlib.Path(path)


def _in_zarr(path):
    """Whether a path is a Zarr store, or lies in one."""
    return any(part.endswith(".zarr") for part in path.parts)


def _slices(slices, op):
    """Returns slices along the first axes, of step 1."""
    slices = [slices] if slices is None or isinstance(slices, slice) else slices
    _is(slices, (list, tuple), op, "slices")
    for each in slices:
        _is(each, (slice, type(None)), op, "slices")
        if each is not None and each.step not in (None, 1):
            raise ValueError(f"[{op}] got the step {each.step}; expected 1")
    return [slice(None) if each is None else each for each in slices]


def _read(function, path, *names, dtype=None, split=None, device=None, comm=None, slices=None):
    """Returns an array of a file, or a part of it that slices select."""
    _is(split, (int, type(None)), function.__name__, "an axis to split")
    return DNDarray(function(path, *names, dtype=None if dtype is None else types.ours_of(dtype), split=split, device=str(sanitize_device(device)),
                             comm=sanitize_comm(comm).ours, slices=[] if slices is None else _slices(slices, function.__name__)))


def load_csv(path, header_lines=0, sep=",", dtype=types.float32, encoding="utf-8", split=None, device=None, comm=None):
    """Reads numbers of a text file."""
    _is(sep, str, "load_csv", "a separator"), _is(header_lines, int, "load_csv", "a number of lines")
    if encoding.lower() not in ("utf-8", "ascii"):
        raise NotImplementedError(f"[load_csv] got encoding {encoding!r}; expected utf-8")
    return DNDarray(C.io.load_csv(_paths(path, "load_csv"), delimiter=sep, header_lines=header_lines, comment="\0", dtype=types.ours_of(dtype), split=split,
                                  device=str(sanitize_device(device)), comm=sanitize_comm(comm).ours))


def save_csv(data, path, header_lines=None, sep=",", decimals=-1, encoding="utf-8", comm=None, truncate=True):
    """Writes a text file. The communicator is the array's."""
    sanitize_in(data)
    if not truncate or encoding.lower() not in ("utf-8", "ascii"):
        raise NotImplementedError(f"[save_csv] got truncate={truncate} and encoding {encoding!r}; expected True and utf-8")
    header = header_lines if isinstance(header_lines, str) else "\n".join(header_lines or [])
    C.io.save_csv(data._x, _paths(path, "save_csv"), delimiter=sep, header=header, decimals=None if decimals < 0 else decimals)


def load_hdf5(path, dataset, dtype=None, slices=None, split=None, device=None, comm=None):
    """Reads a dataset of an HDF5 file."""
    _is(dataset, str, "load_hdf5", "the name of a dataset")
    return _read(C.io.load_hdf5, _paths(path, "load_hdf5"), dataset, dtype=dtype, split=split, device=device, comm=comm, slices=slices)


def _extends(data, path, mode, op):
    """Whether a file is kept and extended: with r+ always, with a if rank 0 sees it. Collective."""
    if mode not in ("w", "a", "r+"):
        raise ValueError(f"[{op}] got mode {mode!r}; expected w, a or r+")
    return mode == "r+" or mode == "a" and data.comm.handle.bcast(_paths(path, op).exists())


def save_hdf5(data, path, dataset, mode="w", dtype=None, **options):
    """Writes a dataset of an HDF5 file: w creates a file, r+ extends an existing one, a does either."""
    sanitize_in(data), _is(dataset, str, "save_hdf5", "the name of a dataset")
    append = _extends(data, path, mode, "save_hdf5")
    C.io.save_hdf5((data if dtype is None else data.astype(dtype))._x, _paths(path, "save_hdf5"), dataset, append=append, **options)


def load_netcdf(path, variable, dtype=types.float32, split=None, device=None, comm=None):
    """Reads a variable of a netCDF file."""
    _is(variable, str, "load_netcdf", "the name of a variable")
    return _read(C.io.load_netcdf, _paths(path, "load_netcdf"), variable, dtype=dtype, split=split, device=device, comm=comm)


def save_netcdf(data, path, variable, mode="w", dimension_names=None, is_unlimited=False, file_slices=slice(None), **options):
    """Writes a variable of a netCDF file: w creates a file, r+ extends an existing one, a does either."""
    sanitize_in(data), _is(variable, str, "save_netcdf", "the name of a variable")
    append, path = _extends(data, path, mode, "save_netcdf"), _paths(path, "save_netcdf")
    _is(dimension_names, (str, list, tuple, type(None)), "save_netcdf", "names of dimensions")
    names = [dimension_names] if isinstance(dimension_names, str) else list(dimension_names or [])
    if names and len(names) != data.ndim:
        raise ValueError(f"[save_netcdf] got {len(names)} names of dimensions; expected {data.ndim}")
    x, comm = data._x, data._x.comm
    found = [each for each in C.io.contents(path, comm=comm) if each.name == variable] if append else []
    if found:
        x, names = _placed(x, C.io.load_netcdf(path, variable, split=0 if found[0].shape else None, comm=comm, decode=False), file_slices), []
    elif file_slices != slice(None):
        x = _placed(x, x, file_slices)
    C.io.save_netcdf(x, path, variable, append=append, replace=append, dimension_names=names, unlimited=is_unlimited, **options)


def _placed(x, stored, where):
    """Returns the content of a variable after x was written to slices, with netCDF4's rules: a slice beyond the last row adds rows, and axes of
    length 1 do not count."""
    where = tuple(where) if isinstance(where, (tuple, list)) else (where,)
    goes_on = x.ndim == stored.ndim > 0 and isinstance(where[0], slice) and where[0].stop is None and where[0].step in (None, 1)
    more = (where[0].start or 0) + x.shape[0] - stored.shape[0] if goes_on else 0
    if more > 0:
        stored = C.concatenate([stored, C.zeros((more, *stored.shape[1:]), dtype=stored.dtype, split=0, comm=stored.comm)])
    else:
        stored = stored.copy()
    place = stored[where].shape
    stored[where] = x.reshape(place) if x.size == np.prod(place) else x
    return stored


def load_zarr(path, variable=None, split=0, device=None, comm=None, slices=None, dtype=None):
    """Reads an array of a Zarr store, or those that a variable with * names, joined along the split axis."""
    path = _paths(path, "load_zarr")
    _slices(slices, "load_zarr")
    if not _in_zarr(path):
        raise ValueError(f"[load_zarr] got {path}; expected a .zarr")
    options = {"dtype": dtype, "device": device, "comm": comm}
    if "*" not in (variable or ""):
        return _read(C.io.load_zarr, path, variable or "", split=split, slices=slices, **options)
    if slices is not None:
        raise NotImplementedError("[load_zarr] got slices and a variable with *; expected one of them")
    parts = sorted(path.glob(variable), key=lambda each: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(each))])
    if not parts:
        raise FileNotFoundError(f"[load_zarr] got {variable}; expected an array of {path}")
    if not split:
        return _read(C.io.load_zarr, [str(each) for each in parts], split=split, **options)
    found = [_read(C.io.load_zarr, each, split=split, **options) for each in parts]
    return DNDarray(C.concatenate([each._x for each in found], sanitize_axis(found[0].shape, split)))


def save_zarr(dndarray, path, overwrite=False, **options):
    """Writes a Zarr store. It replaces an existing one only with `overwrite`."""
    path = _paths(path, "save_zarr")
    if not _in_zarr(path):
        raise ValueError(f"[save_zarr] got {path}; expected a .zarr")
    sanitize_in(dndarray)
    if not overwrite and dndarray.comm.handle.bcast(path.exists()):
        raise RuntimeError(f"[save_zarr] got {path}, which exists; expected overwrite=True")
    options = {name: _inside(value) for name, value in options.items()}
    if path.suffix == ".zarr":
        options.setdefault("dataset", "/")  # as in HeAT, the store itself is the array
    C.io.save_zarr(dndarray._x, path, overwrite=True, **options)


def _by_extension(action):
    def call(*given, **named):
        path = given[1 if action == "save" and len(given) > 1 else 0] if given else named["path"]
        _is(path, (str, pathlib.Path), action, "a path")
        kind = "zarr" if _in_zarr(pathlib.Path(path)) else _KINDS.get(pathlib.Path(path).suffix)
        if kind is None:
            raise ValueError(f"[{action}] got {path}; expected {', '.join(_KINDS)} at its end")
        return globals()[f"{action}_{kind}"](*given, **named)
    return call


load, save = _by_extension("load"), _by_extension("save")


def load_multiple_hdf5(folder, dataset, dtype=None, sorting_func=None):
    """Reads a dataset of all HDF5 files in a folder, joined along axis 0."""
    _is(dataset, str, "load_multiple_hdf5", "the name of a dataset")
    if sorting_func is not None and not callable(sorting_func):
        raise TypeError(f"[load_multiple_hdf5] got {sorting_func!r}; expected a function")
    folder = _paths(folder, "load_multiple_hdf5")
    files = (sorting_func or sorted)([each for each in folder.iterdir() if each.suffix in (".h5", ".hdf5")] if folder.is_dir() else [])
    if not files:
        raise ValueError(f"[load_multiple_hdf5] got {folder}; expected a folder with HDF5 files")
    return _read(C.io.load_hdf5, [str(each) for each in files], dataset, dtype=dtype, split=0)


def _from_folder(path, ending, read, dtype, split, device, comm):
    """Reads the files of a folder, joined along an axis. Each rank reads its share."""
    op = f"load{ending}"
    _is(path, str, op, "a path"), _is(split, (int, type(None)), op, "an axis")
    files, comm = sorted(pathlib.Path(path).glob(f"*{ending}")), sanitize_comm(comm)
    if not files:
        raise ValueError(f"[{op}] got {path}; expected a folder with {ending} files")
    if len(files) < comm.size:
        raise RuntimeError(f"[{op}] got {len(files)} files; expected one for each of the {comm.size} ranks")
    start, (count,), _ = comm.chunk((len(files),), None if split is None else 0)
    block = together(comm, lambda: np.concatenate([read(each) for each in files[start:start + count]], split or 0))
    return array(block, dtype=dtype, device=device, is_split=split, comm=comm)


def load_npy_from_path(path, dtype=types.int32, split=0, device=None, comm=None):
    """Reads the .npy files of a folder, joined along an axis."""
    return _from_folder(path, ".npy", np.load, dtype, split, device, comm)


def load_csv_from_folder(path, dtype=types.int32, split=0, device=None, comm=None, func=None):
    """Reads the .csv files of a folder with pandas, applies `func` to each, and joins them along an axis."""
    if func is not None and not callable(func):
        raise TypeError(f"[load_csv_from_folder] got {func!r}; expected a function")
    import pandas  # an optional dependency

    return _from_folder(path, ".csv", lambda each: (func or (lambda table: table))(pandas.read_csv(each)).to_numpy(), dtype, split, device, comm)


def size_from_slice(size, s):
    """Returns how many of `size` positions a slice selects, and the first."""
    taken = range(size)[s]
    return len(taken), taken[0] if taken else 0
