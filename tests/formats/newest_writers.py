"""Writes files with today's versions of the programs that write them, and the expected values; reads heatpp's copies of them: newest_writers.py write|check FOLDER. Needs Python 3.12 and newest_requirements.txt.

FOLDER/in has the files, FOLDER/list a line for each array: kind, name, file, array, field, text of the error. FOLDER/NAME.npy has
the expected values (of sparse matrices the dense ones)."""

import importlib.metadata
import pathlib
import shutil
import sys
import warnings

import anndata
import h5py
import hdf5plugin  # noqa: F401, h5py reads copies by its filters
import hdf5storage
import ml_dtypes
import netCDF4
import numcodecs
import numpy as np
import openpmd_api
import pandas as pd
import pyh5md
import scipy.io
import scipy.sparse
import tables
import tensorstore
import xarray as xr
import zarr

warnings.simplefilter("ignore")  # of codecs that are not yet in Zarr's specification
ROWS = np.arange(13)
GRID = np.arange(13 * 6, dtype="f4").reshape(13, 6)
LONG = np.arange(13 * 600, dtype="f4").reshape(13, 600)  # blosc's filter refuses small chunks
MISSING = np.where(GRID % 5 == 0, np.nan, GRID / 4)
LARGE = np.array([0, 1, 2**53 + 1, 2**63, 2**64 - 1], "u8")
RECORDS = np.zeros(13, dtype=[("lon", "f4"), ("speed", "f8", (3,)), ("kind", "i2"), ("flag", "?")])
RECORDS["lon"], RECORDS["speed"][:, 2], RECORDS["kind"], RECORDS["flag"] = ROWS, -ROWS, 3 * ROWS, ROWS % 2
MATRIX = scipy.sparse.random_array((40, 30), density=0.1, rng=np.random.default_rng(1), format="csr")


class Files:
    def __init__(self, folder):
        self.folder, self.inside, self.lines = folder, folder / "in", []
        self.inside.mkdir(parents=True)

    def path(self, name):
        return self.inside / name

    def add(self, name, file, expected=None, array="", field="", error="", kind="stored"):
        """Adds an array to the list. Kind: stored (copies have the same bits), decoded, sparse."""
        if not error:
            np.save(self.folder / f"{name}.npy", expected)
        self.lines.append("\t".join((kind, name, file, array, field, error)))

    def finish(self):
        (self.folder / "list").write_text("".join(line + "\n" for line in self.lines))


def write_h5py(to):
    with h5py.File(to.path("h5py.h5"), "w") as file:
        stored = {"plain": GRID, "whole": ROWS, "half": GRID.astype("f2"), "flags": ROWS % 2 == 0, "complex": GRID + 1j, "fortran": np.asfortranarray(GRID)}
        for name, values in stored.items():
            file[f"g/{name}"] = values
        for name, how in {"gzip": dict(compression=6, shuffle=True), "checksum": dict(fletcher32=True), "scaled": dict(scaleoffset=0)}.items():
            stored[name] = GRID.astype("i4") if name == "scaled" else GRID
            file.create_dataset(f"g/{name}", data=stored[name], chunks=(4, 5), **how)
        file.create_dataset("lzf", data=GRID, chunks=(4, 5), compression="lzf")
        file["names"], file["records"], file["large"] = ["a", "b"], RECORDS, LARGE
        file.create_dataset("small", (13,), dtype=np.dtype(("f4", (6,))))[...] = GRID
    for name, values in stored.items():
        to.add(f"h5py_{name}", "h5py.h5", values, f"g/{name}")
    for field in RECORDS.dtype.names:
        to.add(f"h5py_{field}", "h5py.h5", RECORDS[field], "records", field)
    to.add("h5py_small", "h5py.h5", GRID, "small")
    to.add("h5py_records", "h5py.h5", array="records", error='"speed" (float64 in arrays of (3,)), "kind" (int16), "flag" (bool)')
    to.add("h5py_names", "h5py.h5", array="names", error="which holds strings")
    to.add("h5py_lzf", "h5py.h5", array="lzf", error="hdf5-plugin-lzf (Debian)")
    to.add("h5py_large", "h5py.h5", array="large", error="a dtype of floats, as float64")
    with h5py.File(to.path("h5py_latest.h5"), "w", libver=("earliest", "v114")) as file:
        file.create_dataset("x", data=GRID, chunks=(4, 5), compression="gzip")
    to.add("h5py_v114", "h5py_latest.h5", GRID, "x")


def write_netcdf4(to):
    for form in ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        with netCDF4.Dataset(to.path(f"{form}.nc"), "w", format=form) as file:
            file.createDimension("time", None), file.createDimension("x", 6)
            file.createVariable("v", "f4", ("time", "x"), fill_value=False)[:] = GRID
            packed = file.createVariable("packed", "i2", ("time", "x"), fill_value=np.int16(-999))
            packed.scale_factor, packed.add_offset = 0.25, 10.0
            packed[:] = np.ma.masked_invalid(MISSING)
        to.add(f"netcdf4_{form}", f"{form}.nc", GRID, "v", kind="decoded")
        to.add(f"netcdf4_packed_{form}", f"{form}.nc", MISSING, "packed", kind="decoded")
    with netCDF4.Dataset(to.path("netcdf4.nc"), "w", auto_complex=True) as file:
        file.createDimension("time", 13), file.createDimension("x", 6), file.createDimension("y", 600)
        for how in ("zlib", "zstd", "blosc_lz4"):
            file.createVariable(how, "f4", ("time", "y"), compression=how, chunksizes=(8, 600), fill_value=False)[:] = LONG
            to.add(f"netcdf4_{how}", "netcdf4.nc", LONG, how)
        file.createVariable("complex", "c8", ("time", "x"))[:] = GRID + 2j
        file.createGroup("g").createVariable("text", str, ("time",))[0] = "a"
    to.add("netcdf4_complex", "netcdf4.nc", (GRID + 2j).astype("c8"), "complex", kind="decoded")
    to.add("netcdf4_text", "netcdf4.nc", array="g/text", error="which holds text")


def write_xarray(to):
    data = xr.Dataset({"v": (("t", "x"), MISSING, {"units": "K"}), "n": (("t",), ROWS), "b": (("t",), ROWS % 3 == 0)})
    encoding = {"v": dict(dtype="int16", scale_factor=0.25, _FillValue=-1, add_offset=-8.0)}
    data.to_netcdf(to.path("xarray.nc"), engine="netcdf4", encoding={"v": encoding["v"] | dict(zlib=True, complevel=3)})
    data.to_netcdf(to.path("xarray_h5.nc"), engine="scipy", format="NETCDF3_64BIT", encoding=encoding)
    for form in (2, 3):
        data.to_zarr(to.path(f"xarray_v{form}.zarr"), zarr_format=form, encoding=encoding)
        data.to_zarr(to.path(f"xarray_floats_v{form}.zarr"), zarr_format=form, encoding={"v": dict(_FillValue=-9999.0)})
    data.to_zarr(to.path("xarray_shards.zarr"), zarr_format=3, encoding={"v": encoding["v"] | dict(chunks=(4, 3), shards=(8, 6))})
    for path in sorted(to.inside.glob("xarray*")):
        for name in ("v", "n", "b"):
            if name != "b" or path.suffix == ".zarr":
                to.add(f"{path.name}_{name}", path.name, data[name].values, name, kind="decoded")


def write_zarr(to):
    for form in (2, 3):
        group = zarr.open_group(to.path(f"zarr_v{form}.zarr"), mode="w", zarr_format=form)
        for name, values in (("grid", GRID), ("rows", ROWS.astype("i4")), ("flags", ROWS % 2 == 0), ("complex", GRID + 1j)):
            group.create_array(name, data=values, chunks=(4, 5)[:values.ndim])
            to.add(f"zarr_v{form}_{name}", f"zarr_v{form}.zarr", values, name)
    group.create_array("shards", data=GRID, chunks=(4, 3), shards=(8, 6))
    group.create_array("gzip", data=GRID, chunks=(4, 3), compressors=[zarr.codecs.GzipCodec(level=2)])
    group.create_array("blosc", data=GRID, chunks=(4, 3), compressors=[zarr.codecs.BloscCodec(cname="zstd", typesize=4)])
    group.create_array("transposed", data=GRID, chunks=(4, 3), filters=[zarr.codecs.TransposeCodec(order=(1, 0))])
    group.create_array("checked", data=GRID, chunks=(4, 3), compressors=[zarr.codecs.Crc32cCodec()])
    for name in ("shards", "gzip", "blosc", "transposed", "checked"):
        to.add(f"zarr_v3_{name}", "zarr_v3.zarr", GRID, name)
    old = zarr.open_group(to.path("zarr_v2.zarr"), mode="a", zarr_format=2)
    for name, filters in {"delta": [numcodecs.Delta("i4")], "shuffle": [numcodecs.Shuffle(4)]}.items():
        old.create_array(name, data=GRID.astype("i4"), chunks=(4, 3), filters=filters, compressors=numcodecs.Zlib(5))
        to.add(f"zarr_v2_{name}", "zarr_v2.zarr", GRID.astype("i4"), name)
    with zarr.storage.ZipStore(to.path("zarr.zip"), mode="w") as store:
        zarr.open_group(store, mode="w").create_array("x", data=GRID, chunks=(4, 3))
    to.add("zarr_zip", "zarr.zip", GRID, "x")


def write_tensorstore(to):
    def store(name, values, driver, **metadata):
        spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(to.path(name))}, **({"metadata": metadata} if metadata else {})}
        tensorstore.open(spec, create=True, dtype=values.dtype, shape=values.shape).result()[...] = values

    store("tensorstore_v2.zarr", GRID, "zarr")
    store("tensorstore_v3.zarr", GRID, "zarr3")
    codecs = [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "zstd", "configuration": {"level": 5}}]
    store("tensorstore_shards.zarr", GRID, "zarr3", chunk_grid={"name": "regular", "configuration": {"chunk_shape": [8, 6]}},
          codecs=[{"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 3], "codecs": codecs, "index_location": "start"}}])
    store("tensorstore_bfloat16.zarr", GRID.astype(ml_dtypes.bfloat16), "zarr3")
    for path in sorted(to.inside.glob("tensorstore*")):
        short = path.name == "tensorstore_bfloat16.zarr"
        to.add(path.name, path.name, GRID, kind="narrow" if short else "stored")


def write_anndata(to):
    frame = pd.DataFrame({"age": ROWS / 2}, index=[f"c{i}" for i in ROWS])
    dense = anndata.AnnData(X=GRID, obs=frame, obsm={"pca": GRID[:, :2]})
    dense.write_h5ad(to.path("anndata.h5ad"), compression="gzip")
    dense.write_zarr(to.path("anndata.zarr"))
    for name in ("anndata.h5ad", "anndata.zarr"):
        for array, values in (("X", GRID), ("obs/age", ROWS / 2), ("obsm/pca", GRID[:, :2])):
            to.add(f"{name}_{array.replace('/', '_')}", name, values, array)
    for form in ("csr", "csc"):
        matrix = anndata.AnnData(X=scipy.sparse.csr_matrix(MATRIX).asformat(form))
        matrix.write_h5ad(to.path(f"anndata_{form}.h5ad"), compression="gzip")
        matrix.write_zarr(to.path(f"anndata_{form}.zarr"))
        for ending in ("h5ad", "zarr"):
            to.add(f"anndata_{form}_{ending}", f"anndata_{form}.{ending}", MATRIX.toarray(), "X", kind="sparse")


def write_pytables(to):
    with tables.open_file(to.path("tables.h5"), "w") as file:
        file.create_array("/", "array", GRID)
        file.create_array("/", "flags", ROWS % 2 == 0)
        file.create_carray("/", "carray", obj=GRID, filters=tables.Filters(5, "zlib", shuffle=True))
        file.create_carray("/", "blosc", obj=GRID, filters=tables.Filters(5, "blosc"))
        file.create_carray("/", "blosc2", obj=GRID, filters=tables.Filters(5, "blosc2"))
        file.create_earray("/", "earray", obj=GRID)
        file.create_table("/g", "table", obj=RECORDS, createparents=True)
        file.create_vlarray("/", "ragged", tables.Int32Atom()).append([1, 2])
    for name, values in {"array": GRID, "flags": ROWS % 2 == 0, "carray": GRID, "blosc": GRID, "earray": GRID}.items():
        to.add(f"tables_{name}", "tables.h5", values, name)
    for field in RECORDS.dtype.names:
        to.add(f"tables_{field}", "tables.h5", RECORDS[field], f"g/table/{field}")
    to.add("tables_blosc2", "tables.h5", array="blosc2", error="filter 32026 (Blosc2)")
    to.add("tables_ragged", "tables.h5", array="ragged", error="sequences of variable length")


def write_openpmd(to):
    series = openpmd_api.Series(str(to.path("openpmd.h5")), openpmd_api.Access.create)
    step = series.iterations[10]
    field = step.meshes["E"]["x"]
    field.reset_dataset(openpmd_api.Dataset(GRID.dtype, GRID.shape))
    field.store_chunk(np.ascontiguousarray(GRID))
    charge = step.particles["e"]["charge"][openpmd_api.Record_Component.SCALAR]
    charge.reset_dataset(openpmd_api.Dataset(np.dtype("f8"), [13]))
    charge.make_constant(-1.5)
    place = step.particles["e"]["position"]["x"]
    place.reset_dataset(openpmd_api.Dataset(np.dtype("f8"), [13]))
    place.store_chunk(ROWS.astype("f8"))
    series.flush()
    series.close()
    for name, array, values in (("mesh", "meshes/E/x", GRID), ("place", "particles/e/position/x", ROWS.astype("f8")),
                                ("constant", "particles/e/charge", np.full(13, -1.5))):
        to.add(f"openpmd_{name}", "openpmd.h5", values, f"data/10/{array}")


def write_h5md(to):
    with pyh5md.File(str(to.path("pyh5md.h5")), "w", author="a") as file:
        group = file.particles_group("all")
        group.create_box(dimension=3, boundary=["periodic"] * 3, store="fixed", data=np.ones(3))
        place = pyh5md.element(group, "position", store="linear", data=GRID[:, :3], step=10)
        for i in range(3):
            place.append(GRID[:, :3] + i)
        mass = pyh5md.element(group, "mass", store="fixed", data=ROWS.astype("f8"))
        assert mass is not None
    to.add("pyh5md_position", "pyh5md.h5", np.stack([GRID[:, :3] + i for i in range(3)]), "particles/all/position")
    to.add("pyh5md_mass", "pyh5md.h5", ROWS.astype("f8"), "particles/all/mass")


def write_matlab(to):
    hdf5storage.savemat(str(to.path("hdf5storage.mat")), {"a": GRID.astype("f8")}, format="7.3")
    with h5py.File(to.path("hdf5storage.mat")) as file:  # MATLAB's order of axes is that of the writer
        to.add("hdf5storage", "hdf5storage.mat", file["a"][...], "a")
    scipy.io.savemat(to.path("scipy.mat"), {"a": GRID})
    to.add("scipy_mat", "scipy.mat", error="MATLAB")


def write_scipy(to):
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        scipy.sparse.save_npz(to.path(f"scipy_{form}.npz"), MATRIX.asformat(form))
        to.add(f"scipy_{form}", f"scipy_{form}.npz", MATRIX.toarray(), kind="sparse")
    scipy.io.mmwrite(to.path("scipy.mtx"), MATRIX.tocoo(), precision=17)
    to.add("scipy_mtx", "scipy.mtx", MATRIX.toarray(), kind="sparse")
    with scipy.io.netcdf_file(to.path("scipy.nc"), "w", version=2) as file:
        file.createDimension("t", 13), file.createDimension("x", 6)
        file.createVariable("v", "f4", ("t", "x"))[:] = GRID
    to.add("scipy_netcdf", "scipy.nc", GRID, "v", kind="decoded")


def check_dense(folder, name, kind):
    """Reads the copies of an array in each format."""
    expected, out = np.load(folder / f"{name}.npy"), folder / "out"
    read = {}
    for path in sorted(out.glob(f"{name}.copy.*")):
        if path.suffix == ".h5" and kind == "stored":
            with h5py.File(path) as file:
                read["h5py"], by_all = file["data"][...], set(file["data"]._filters) <= {"gzip", "shuffle"}
            if by_all:
                with tables.open_file(path) as file:
                    read["PyTables"] = file.root.data[...]
        elif path.suffix == ".nc":
            with xr.open_dataset(path, engine="netcdf4") as data:
                read["xarray of netCDF"] = data["data"].values
        elif path.suffix == ".zarr":
            with warnings.catch_warnings(action="error"):
                read[f"xarray of {path.name}"] = xr.open_zarr(path)["data"].values
            if kind == "stored":
                read[f"zarr {path.name}"] = zarr.open_group(path, mode="r")["data"][...]
                driver = "zarr3" if path.name.endswith("v3.zarr") else "zarr"
                spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(path / "data")}}
                read[f"TensorStore {path.name}"] = tensorstore.open(spec).result().read().result()
    for what, values in read.items():
        assert np.array_equal(values, expected, equal_nan=expected.dtype.kind in "fc"), (name, what, values)
    return len(read)


def check_sparse(folder, name):
    expected, out = np.load(folder / f"{name}.npy"), folder / "out"
    for values in (anndata.read_h5ad(out / f"{name}.h5ad").X, scipy.sparse.load_npz(out / f"{name}.npz"), scipy.io.mmread(out / f"{name}.mtx")):
        assert np.array_equal(values.toarray(), expected), name
    return 3


def write(folder):
    shutil.rmtree(folder / "in", ignore_errors=True)
    to = Files(folder)
    for part in (write_h5py, write_netcdf4, write_xarray, write_zarr, write_tensorstore, write_anndata, write_pytables, write_openpmd, write_h5md,
                 write_matlab, write_scipy):
        part(to)
    to.finish()
    names = [line.partition("==")[0] for line in pathlib.Path(__file__).with_name("newest_requirements.txt").read_text().split()]
    print(f"{len(to.lines)} arrays of", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names), "on HDF5", h5py.version.hdf5_version)


def check(folder):
    count = 0
    for line in (folder / "list").read_text().splitlines():
        kind, name, _, _, _, error = line.split("\t")
        if not error:
            count += check_sparse(folder, name) if kind == "sparse" else check_dense(folder, name, kind)
    assert count > 200, count
    print(f"{count} copies read")


{"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
