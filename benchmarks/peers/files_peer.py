"""TensorStore, zarr-python with zarrs' codecs, readers of CSV, netCDF4 and xarray, each with as many threads as heatpp has ranks:
python files_peer.py NAME PEER. They read the files that heatpp has written before."""
import functools
import os
import sys

import numpy as np

import data
from turns import main, workload

THREADS = int(os.environ.get("HEATPP_BENCH_RANKS", "2"))
PEER = sys.argv[2]
SHAPE, CHUNKS, SHARDS = (262_144, 512), (4096, 128), (32_768, 512)
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}


def path_of(name):
    return os.path.join(os.environ.get("HEATPP_BENCH_DATA", "."), name)


def numbers():
    return data.rows("byte", 91, 0, *SHAPE)


def by_tensorstore(path, **more):
    import tensorstore

    limits = {"limit": THREADS}
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}
    context = tensorstore.Context({"data_copy_concurrency": limits, "file_io_concurrency": limits, "cache_pool": {"total_bytes_limit": 0}})
    return tensorstore.open({**spec, **more.pop("spec", {})}, context=context, **more).result()


def load_tensorstore(kind):
    return by_tensorstore(path_of(f"{kind}.zarr/data"), open=True).read().result()


def save_tensorstore(kind, x, path):
    inner = [BYTES, ZSTD]
    sharded = [{"name": "sharding_indexed", "configuration": {"chunk_shape": CHUNKS, "codecs": inner}}]
    outer, codecs = (SHARDS, sharded) if kind == "shards" else (CHUNKS, inner)
    grid = {"name": "regular", "configuration": {"chunk_shape": outer}}
    metadata = {"shape": x.shape, "data_type": "float32", "chunk_grid": grid, "codecs": codecs}
    by_tensorstore(path, spec={"metadata": metadata}, create=True, delete_existing=True).write(x).result()


def zarr_by_zarrs():
    import zarr
    import zarrs  # noqa: F401: the codecs

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "threading.max_workers": THREADS, "async.concurrency": THREADS})
    return zarr


def load_zarrs(kind):
    return zarr_by_zarrs().open_array(path_of(f"{kind}.zarr/data"), mode="r")[:]


def save_zarrs(kind, x, path):
    shards = SHARDS if kind == "shards" else None
    zarr = zarr_by_zarrs()
    array = zarr.create_array(path, shape=x.shape, dtype=x.dtype, chunks=CHUNKS, shards=shards, compressors=zarr.codecs.ZstdCodec(level=3), overwrite=True)
    array[:] = x


def read_polars(path):
    import polars

    return polars.read_csv(path, has_header=False, schema={f"c{i}": polars.Float64 for i in range(10)})


def read_pandas(path):
    import pandas

    return pandas.read_csv(path, header=None, dtype=np.float64)


def read_pyarrow(path):
    import pyarrow.csv

    pyarrow.set_cpu_count(THREADS)
    types = {f"f{i}": pyarrow.float64() for i in range(10)}
    return pyarrow.csv.read_csv(path, pyarrow.csv.ReadOptions(autogenerate_column_names=True), convert_options=pyarrow.csv.ConvertOptions(column_types=types))


def check_table(table):
    columns = table.columns if PEER == "pyarrow" else [table.iloc[:, i] for i in range(10)] if PEER == "pandas" else table.get_columns()
    return data.check_sums(np.column_stack([np.asarray(column) for column in columns]))


def register(load, save):
    def saved(kind, x, path):
        save(kind, x, path)
        return path

    def prepare(kind):
        x, path = numbers(), path_of(f"saved_by_{PEER}.zarr")
        return functools.partial(saved, kind, x, path), lambda path: data.check_sums(reread(path))

    def reread(path):
        import zarr

        return zarr.open_array(path, mode="r")[:]

    for kind in ("plain", "shards"):
        workload(f"zarr_load.{kind}")(lambda kind=kind: (functools.partial(load, kind), data.check_sums))
        workload(f"zarr_save.{kind}")(functools.partial(prepare, kind))


def register_csv(read):
    for name in ("csv_digits", "csv_decimals"):
        workload(name)(lambda name=name: (functools.partial(read, path_of(f"{name}.csv")), check_table))


def load_netcdf4(path):
    import netCDF4

    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return file["data"][...]


def save_netcdf4(x, path):
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        names = [file.createDimension(f"dim_{axis}", extent).name for axis, extent in enumerate(x.shape)]
        file.createVariable("data", x.dtype, names)[...] = x


def load_xarray(path):
    import xarray

    with xarray.open_dataset(path, engine="netcdf4") as file:
        return file["data"].load().values


def save_xarray(x, path):
    import xarray

    xarray.Dataset({"data": (("dim_0", "dim_1"), x)}).to_netcdf(path, engine="netcdf4")


def register_netcdf(load, save):
    def saved(x, path):
        save(x, path)
        return path

    def prepare():
        return functools.partial(saved, numbers(), path_of(f"saved_by_{PEER}.nc")), lambda path: data.check_sums(load(path))

    workload("netcdf_load")(lambda: (functools.partial(load, path_of("numbers.nc")), data.check_sums))
    workload("netcdf_save")(prepare)


if PEER == "netcdf4":
    register_netcdf(load_netcdf4, save_netcdf4)
if PEER == "xarray":
    register_netcdf(load_xarray, save_xarray)
if PEER == "tensorstore":
    register(load_tensorstore, save_tensorstore)
if PEER == "zarrs":
    register(load_zarrs, save_zarrs)
if PEER in ("polars", "pandas", "pyarrow"):
    register_csv({"polars": read_polars, "pandas": read_pandas, "pyarrow": read_pyarrow}[PEER])
main()
