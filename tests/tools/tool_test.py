"""Tests the program heatpp. Compares numbers with NumPy's, and reads files with h5py, zarr, safetensors and NumPy."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import safetensors.numpy
from tool import HEATPP, RANKS, check, close, launcher, main, run, run_json, write_shards

try:
    import zarr
except ImportError:
    zarr = None


def test_info(folder):
    info = run_json("info", HEATPP_TIMEOUT="77")
    check(info["machine"]["ranks"] == int(RANKS), "info counts the ranks")
    check(sum(info["machine"]["ranks of each host"].values()) == int(RANKS), "info counts the ranks of hosts")
    check(info["topology"].startswith(f"{RANKS} ranks"), "info draws the topology")
    check(info["settings"].get("HEATPP_TIMEOUT") == "77", "info shows variables that are set")
    check(info["libraries"]["HDF5"][0].isdigit() and "MPI" in info["libraries"]["MPI"], "info tells versions")
    check(info["wires"]["ranks of a node"] == ("one rank" if RANKS == "1" else "shared memory"), "info tells what carries messages")
    check(info["machine"]["if a rank ends, the program"].startswith("ends"), "info tells that mpirun ends the others")
    check(info["machine"]["MPI calls from"].endswith(" threads"), "info tells the thread level")


def test_pages(folder):
    """Checks that the manual has every option of the help."""
    programs = {f"heatpp-{command}": [HEATPP, command] for command in ("info", "describe", "convert", "calibrate", "bench")}
    programs["heatpp-train"] = [sys.executable, pathlib.Path(__file__).parents[2] / "scripts/heatpp-train"]
    for name, program in programs.items():
        page = (pathlib.Path(HEATPP).parent / f"man/{name}.1").read_text().replace("\\-", "-")
        words = subprocess.run([*program, "--help"], capture_output=True, text=True, check=True).stdout.split()
        options = [word for word in words if word.startswith("-") and word.strip("-")[:1].isalpha()]
        check(len(options) > 1 and all(option in page for option in options), f"the manual of {name} has {options}")


def check_summary(found, x, tolerance, what):
    finite = x[np.isfinite(x)].astype(np.float64)
    deviations = finite - finite.mean()
    var = np.mean(deviations**2)
    expected = {"elements": x.size, "missing": int(np.isnan(x).sum()), "infinite": int(np.isinf(x).sum()), "min": finite.min(),
                "max": finite.max(), "mean": finite.mean(), "std": finite.std(), "skewness": np.mean(deviations**3) / var**1.5,
                "kurtosis": np.mean(deviations**4) / var**2 - 3}
    for name, value in expected.items():
        check(close(found[name], value), f"{what}: {name} {found[name]} instead of {value}")
    for percent, value in found["percentiles"]:
        check(abs(value - np.percentile(finite, percent)) <= tolerance, f"{what}: percentile {percent} is {value}")
    counts, edges = np.histogram(finite, bins=len(found["histogram"]["counts"]))
    check(found["histogram"]["counts"] == counts.tolist() and close(found["histogram"]["high"], edges[-1]), f"{what}: histogram")


def test_describe(folder):
    x = write_shards(folder)
    listed = {entry["name"]: entry for entry in run_json("describe", folder / "part-0.h5")["arrays"]}
    check(listed["run/x"]["shape"] == [34, 40] and listed["run/x"]["dtype"] == "float32", "describe lists arrays")
    check(listed["run/x"]["attributes"] == {"units": "K", "range": [0.5, 2.0]} and listed["run/x"]["dimension_names"] == ["time", "x"],
          "describe lists attributes")
    check(listed["run/x"]["chunks"] == [8, 40] and listed["run/x"]["compressed"], "describe lists chunks")
    check("string" in listed["name"]["problem"] and listed["steps"]["shape"] == [5], "describe lists what is no array of numbers")
    check("cannot be opened" in listed["steps_before"]["problem"], "describe lists what cannot be opened")
    check("which cannot be opened" in run("describe", folder / "part-0.h5", "-d", "steps_before", code=1), "describe tells of links to nothing")

    shards = f"{folder}/part-*.h5"
    whole = run_json("describe", shards, "--dataset", "run/x")
    check(whole["files"] == 3 and whole["shape"] == [101, 40] and whole["exact"], "describe puts shards together")
    check_summary(whole, x, 1e-5, "describe")
    pieces = run_json("describe", shards, "-d", "run/x", "--memory", "2KB", "--bins", 10)
    check(not pieces["exact"], "describe says that percentiles are estimated")
    finite = x[np.isfinite(x)]
    check_summary(pieces, x, 2 * (finite.max() - finite.min()) / (10 * 4096), "describe in pieces")
    both = run_json("describe", folder / "part-0.h5", folder / "part-2.h5")["files"]
    check([entry["arrays"][1]["name"] for entry in both] == ["run/x"] * 2 and both[1]["arrays"][1]["shape"] == [33, 40],
          "describe lists the arrays of all files")
    text = run("describe", shards, "-d", "run/x")
    check("missing (NaN) 2, infinite 1" in text and "101 x 40 along (time, x) of float32" in text, "describe prints a text")
    check('  units: "K"\n' in text and "  range: 0.5, 2.0\n" in text, "describe prints attributes")
    np.save(folder / "gaps.npy", np.full(3, np.nan))
    text = run("describe", folder / "gaps.npy")
    check("elements 3, missing (NaN) 3" in text and len(text.splitlines()) == 5, "describe draws no histogram of nothing")
    for wrong in (["--percentiles", "50,101"], ["--bins", 0]):
        check(wrong[0] in run("describe", folder / "gaps.npy", *wrong, code=2), f"{wrong} is a wrong command line")
    kept = (folder / "part-0.h5").read_bytes()
    check("expected another name" in run("convert", folder / "part-0.h5", folder / "part-0.h5", "-d", "run/x", code=1) and
          (folder / "part-0.h5").read_bytes() == kept, "convert keeps the arrays beside the one it reads")
    with h5py.File(folder / "loops.h5", "w") as file:
        file["x"] = [1.0, 2.0]
        file.create_group("g")["up"] = file["/"]
        for link in range(3):
            file[f"loop{link}"] = h5py.SoftLink("/")
    check([entry["name"] for entry in run_json("describe", folder / "loops.h5")["arrays"]] == ["x"], "describe follows no link back")
    for wrong in (["--dtype", "float99"], ["--chunks", "10,x"], ["--compression", "foo"]):
        check(f"{wrong[0]}: " in run("convert", folder / "gaps.npy", folder / "gaps.h5", *wrong, code=2), f"{wrong} is a wrong command line")


def read(path, name):
    """Returns an array as other libraries read it."""
    suffix = path.suffix
    if suffix in (".h5", ".nc"):
        with h5py.File(path) as file:
            return file[name][...]
    if suffix == ".zarr":
        return zarr.open_group(str(path), mode="r")[name][...] if zarr else None
    if suffix == ".npz":
        return np.load(path)[name]
    if suffix == ".safetensors":
        return safetensors.numpy.load_file(path)[name]
    return np.load(path) if suffix == ".npy" else np.loadtxt(path, delimiter=",", dtype=np.float64)


def test_convert(folder):
    """Converts from each format to the next, in small pieces."""
    values = np.random.default_rng(5).normal(size=(53, 6))
    values[1, 2], values[2, 3] = np.nan, 1e-300
    np.save(folder / "begin.npy", values)
    before = folder / "begin.npy"
    others = (".safetensors", ".npz", ".npy", ".csv", ".h5") if RANKS == "1" else ()
    netcdf = [".nc"] if run_json("info")["libraries"]["netCDF"] else []
    for suffix in (".h5", ".zarr", *netcdf, *others):
        after = folder / f"from_{before.suffix[1:]}{suffix}"
        named = before.suffix in (".h5", ".nc", ".safetensors", ".npz", ".zarr")
        options = ["--name", "g/x" if suffix in (".h5", ".nc") else "x"] if suffix not in (".npy", ".csv") else []
        options += ["--chunks", "5,6", "--compression", "3"] if suffix in (".h5", ".zarr", ".nc") else []
        source = ["-d", "g/x" if before.suffix in (".h5", ".nc") else "x"] if named else []
        run("convert", before, after, "--memory", "300B", "-q", *source, *options)
        found = read(after, options[1] if options[:1] == ["--name"] else "")
        same = found is None or (found.dtype == np.float64 and np.array_equal(found, values, equal_nan=True))
        check(same, f"{before.suffix} to {suffix} keeps all bits")
        before = after
    with h5py.File(folder / "from_npy.h5") as file:
        check(file["g/x"].chunks == (5, 6) and file["g/x"].compression_opts == 3, "convert stores in chunks, compressed")
    only = run_json("describe", folder / "from_npy.h5", "--bins", 3)
    check(len(only["histogram"]["counts"]) == 3, "describe takes the only array as the one that is meant")
    run("convert", folder / "begin.npy", folder / "single-{rank}.npy", "--shards", 1)
    check(np.array_equal(np.load(folder / "single-0.npy"), values, equal_nan=True), "convert numbers a single shard")
    check("without --shards" in run("convert", folder / "begin.npy", folder / "all-{rank}.npy", code=1) and not list(folder.glob("all-*")),
          "convert asks how many files shards are")
    # Converts shards to other shards, with another dtype.
    text = run("convert", f"{folder}/part-*.h5", folder / "new-{rank}.npy", "-d", "run/x", "--shards", 4, "--dtype", "float64")
    parts = [np.load(folder / f"new-{part}.npy") for part in range(4)]
    with h5py.File(folder / "part-2.h5") as file:
        check(np.array_equal(np.concatenate(parts)[-33:], file["run/x"][...].astype(np.float64), equal_nan=True), "convert writes shards")
    check("new-0.npy and 3 more: 101 x 40 of float64" in text, "convert tells what it wrote")
    run("convert", f"{folder}/part-*.h5", folder / "units.zarr", "-d", "run/x", "-q")
    attributes = json.loads((folder / "units.zarr/run/x/.zattrs").read_text())
    check(attributes == {"units": "K", "range": [0.5, 2.0], "_ARRAY_DIMENSIONS": ["time", "x"]}, "convert keeps attributes")


def test_narrow_range(folder):
    """Describes numbers between which float64 has no room for the edges of bins."""
    for name, numbers in (("i60", 2**60 + np.arange(1000)), ("i53", np.array([2**53, 2**53 + 2, 2**53 + 4])), ("one", np.array([1.0, 1.0 + 2e-16]))):
        np.save(folder / f"{name}.npy", numbers)
        found = run_json("describe", folder / f"{name}.npy", "-d", "")
        check(found["elements"] == len(numbers) and found["min"] == float(numbers.min()), f"describe takes the narrow range of {name}")
        check(sum(found["histogram"]["counts"]) == len(numbers), f"all numbers of {name} are in bins")


def test_uint64(folder):
    """Describes and copies numbers that int64 does not hold."""
    large = np.array([0, 1, 2**53 + 1, 2**63, 2**64 - 1], "u8")
    with h5py.File(folder / "large.h5", "w") as file:
        file.create_dataset("x", data=large, chunks=(2,), compression=6, shuffle=True)
    found = run_json("describe", folder / "large.h5", "-d", "x")
    check(found["dtype"] == "float64" and found["elements"] == 5 and found["missing"] == 0, "describe counts uint64")
    check((found["min"], found["max"]) == (0, 2.0**64) and close(found["mean"], large.astype("f8").mean()), "describe has the moments of uint64")
    check("from 2^63 on" in run("describe", folder / "large.h5", "-d", "x"), "describe tells of large numbers")
    run("convert", folder / "large.h5", folder / "large.npy", "-d", "x", "-q")
    copy = np.load(folder / "large.npy")
    check(copy.dtype == large.dtype and np.array_equal(copy, large), "convert keeps uint64")
    run("convert", folder / "large.h5", folder / "copy.h5", "-d", "x", "-q")
    with h5py.File(folder / "copy.h5") as file:
        check(file["x"].dtype == large.dtype and np.array_equal(file["x"], large), "convert keeps uint64 in HDF5")
        kept = (file["x"].compression, file["x"].compression_opts, file["x"].shuffle, file["x"].chunks)
        check(kept == ("gzip", 6, True, (2,)), f"convert keeps the compression: {kept}")
    run("convert", folder / "large.h5", folder / "plain.h5", "-d", "x", "-q", "--compression", "none")
    with h5py.File(folder / "plain.h5") as file:
        check(file["x"].compression is None, "convert writes uncompressed")
    check("as float64" in run("convert", folder / "large.h5", folder / "large.csv", "-d", "x", code=1), "convert tells what CSV does not have")
    run("convert", folder / "large.h5", folder / "large.csv", "-d", "x", "-q", "--dtype", "float64")
    check(np.array_equal(np.loadtxt(folder / "large.csv"), large.astype("f8")), "convert writes uint64 as floats")


def test_csv(folder):
    """Reads CSV files with a line of names and a column without numbers."""
    path = folder / "table.csv"
    path.write_text("day;speed;load\n" + "".join(f"day {row};{row};{row * row}\n" for row in range(20)))
    check("header_lines" in run("describe", path, "--delimiter", ";", code=1), "describe tells of header lines")
    how = ("--header-lines", 1, "--delimiter", ";", "--columns", "1,-1")
    found = run_json("describe", path, *how)
    check(found["shape"] == [20, 2] and found["max"] == 361, "describe reads columns below a header")
    run("convert", path, folder / "table.npy", *how)
    check(np.array_equal(np.load(folder / "table.npy"), [[row, row * row] for row in range(20)]), "convert reads columns below a header")


def test_delimiters(folder):
    """Reads CSV files whose delimiters have names."""
    for between, names in (("\t", ("tab", "\\t", "\t")), (" ", ("blanks",))):
        path = folder / "named.csv"
        path.write_text("".join(f"{row}{between}{row * row}\n" for row in range(20)))
        for name in names:
            found = run_json("describe", path, "--delimiter", name)
            check(found["shape"] == [20, 2] and found["max"] == 361, f"describe reads numbers between which there is {name!r}")


def ranks_of(path):
    """Returns the processes of the program with this name on their command line."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if words[0] == os.fsencode(HEATPP) and os.fsencode(path) in words:
            found.append(int(process.parent.name))
    return sorted(found)


def test_signals(folder):
    """Checks that a signal to one rank ends all ranks between two pieces and leaves nothing of the new file."""
    np.save(folder / "long.npy", np.zeros(1_000_000))
    for number, suffix in ((signal.SIGINT, ".h5"), (signal.SIGTERM, ".npy")):
        after = folder / f"stopped{suffix}"
        command = [*launcher, HEATPP, "convert", folder / "long.npy", after, "--memory", "8B", "-q"]
        process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        for _ in range(300):
            if list(folder.glob(f".{after.name}.*")) or process.poll() is not None:
                break
            time.sleep(0.1)
        time.sleep(0.3)  # until the others have reached this point
        for rank in ranks_of(after)[-1:]:
            os.kill(rank, number)
        try:
            error = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            error = process.communicate()[1]
        check(process.returncode == 1 and "got a signal to end" in error, f"convert ends after {number}: {process.returncode}, {error}")
        check(not list(folder.glob("*stopped*")), f"convert leaves nothing after {number}: {list(folder.glob('*stopped*'))}")


def test_subfiles(folder):
    """Converts to subfiles and back, or expects an error that names what is missing."""
    lacks = any(line.startswith("HDF5's subfiles") for line in run_json("info")["missing"])
    text = run("convert", folder / "begin.npy", folder / "dealt.h5", "--subfiles", 3, code=int(lacks), H5FD_SUBFILING_STRIPE_SIZE="256")
    found = sorted(path.name for path in folder.glob("*dealt.h5*"))
    if lacks:
        check("HDF5_ENABLE_SUBFILING_VFD" in text and not found, f"convert tells that HDF5 has no subfiles: {text}, {found}")
        return
    check(len(found) == 5 and sum(name.endswith("_of_3") for name in found) == 3, f"convert writes subfiles: {found}")
    check(run_json("describe", folder / "dealt.h5", "-d", "data")["shape"] == [53, 6], "describe reads subfiles")
    run("convert", folder / "dealt.h5", folder / "whole.npy")
    check(np.array_equal(np.load(folder / "whole.npy"), np.load(folder / "begin.npy"), equal_nan=True), "convert reads subfiles")


def test_content(folder):
    values = np.arange(12.0).reshape(4, 3)
    for name in ("plain.nxs", "dense.h5ad"):
        with h5py.File(folder / name, "w") as file:
            file["X"] = values
        check(run_json("describe", folder / name)["arrays"][0]["shape"] == [4, 3], f"describe knows {name} by its content")
        run("convert", folder / name, folder / "of_content.npy")
        check(np.array_equal(np.load(folder / "of_content.npy"), values), f"convert knows {name} by its content")
    with h5py.File(folder / "marked.h5", "w") as file:
        file["x"] = np.array([1, -9, 3, -9], "i2")
        file["x"].attrs["_FillValue"] = np.int16(-9)
    said = run_json("describe", folder / "marked.h5", "-d", "x")
    check(said["missing"] == 2 and said["min"] == 1 and said["dtype"] == "float32", "describe counts what is missing after decoding")
    run("convert", folder / "marked.h5", folder / "marked.zarr", "-d", "x")
    said = run_json("describe", f"{folder}/marked.zarr/", "-d", "x")
    check(said["missing"] == 2 and said["max"] == 3, "describe takes paths as a shell completes them")
    check("an address" in run("describe", "s3://bucket/a.zarr", code=1), "addresses are refused with the way out")


def test_links(folder):
    kept = folder / "calibration"
    if RANKS == "1":
        check("got one rank" in run("calibrate", code=1), "calibrate tells that one rank has no links")
    else:
        measured = run_json("calibrate", "--output", kept)
        check(kept.read_text() and measured["all_reduce"][-1]["up_to_bytes"] is None, "calibrate keeps what it measures")
        check(measured["links"][0]["bytes_per_second"] > 1e6, "calibrate measures links")
        other = folder / "table.csv"
        before = other.read_bytes()
        check("line 1 is of no calibration" in run("calibrate", "--output", other, code=1), "calibrate tells of files that are none")
        check("of no calibration" in run("bench", HEATPP_CALIBRATION=str(other), code=1), "a setting that names no calibration is an error")
        check(other.read_bytes() == before, "calibrate leaves other files as they are")
        check(run_json("calibrate", "--output", kept) == measured, "calibrate shows what it has kept")
        check("cannot be written" in run("calibrate", "--output", folder / "no/file", code=1), "calibrate tells of files it cannot write")
    bench = run_json("bench", "--turns", 1, "--most", "4KB")
    check([row["bytes"] for row in bench["all_reduce"]] == [8, 64, 512, 4096], "bench times all-reduces of growing sizes")
    node = next(row for row in bench["levels"] if row["level"] == "node")
    check(RANKS == "1" or (0 < node["latency_seconds"] < 1 and node["pair_bytes_per_second"] > 1e6), "bench times a pair")


def test_errors(folder):
    damaged = folder / "damaged.h5"
    damaged.write_bytes((folder / "part-0.h5").read_bytes()[:3000])
    (folder / "from_h5.zarr" / "x" / "3.0").write_bytes(b"nothing deflated")  # only one rank notices this
    cases = [(["convert", folder / "from_h5.zarr", folder / "never.npy"], 1, "3.0"),
             (["describe", folder / "missing.h5", "-d", "x"], 1, "which cannot be opened"),
             (["convert", damaged, folder / "never.npy", "-d", "run/x"], 1, "damaged.h5"),
             (["describe", folder / "part-0.h5", folder / "missing.h5"], 1, "missing.h5"),
             (["describe", "--bin", "3"], 2, "Usage: heatpp describe ")]
    if RANKS == "1":
        cases += [(["describe", folder / "part-0.h5", "-d", "y"], 1, 'got no dataset "y"'),
                  (["describe", damaged], 1, "damaged.h5"),
                  (["convert", folder / "begin.npy", folder / "x.unknown"], 1, "expected one of"),
                  (["convert", folder / "begin.npy", folder / "x.h5", "--chunks", "3,x"], 2, "got chunks"),
                  (["convert", folder / "begin.npy", folder / "x.h5", "--dtype", "real"], 2, "got dtype"),
                  (["convert", folder / "begin.npy"], 2, "Usage: "),
                  (["describes", "--json"], 2, 'got "describes"; expected a subcommand of info, describe,'),
                  ([], 2, "Subcommands")]
        cases += [(["convert", folder / "begin.npy", folder / "x.npy", "--compression", "3"], 1, "got compression for .npy; expected none"),
                  (["convert", folder / "begin.npy", folder / "x.npy", "--append", "--name", "y"], 1, "got dataset and append for .npy"),
                  (["convert", folder / "begin.npy", folder / "x.mtx", "--chunks", "3", "--netcdf", "cdf5"], 1, "got --chunks, --netcdf"),
                  (["convert", folder / "begin.npy", folder / "x.nc", "--netcdf", "cdf9"], 2, "cdf9 not in {netcdf4,cdf5,cdf2,cdf1}")]
        cases += [(["describe", folder / "begin.npy", "--memory", size], 2, "; expected 1 byte or more") for size in ("0", "-1", "0KiB")]
    for arguments, code, text in cases:
        error = run(*arguments, code=code)
        check(error.count(text) >= 1, f"{arguments}: {text} in {error}")
        check(code == 2 or (error.count("heatpp: [") == 1 and "; expected " in error), f"{arguments}: one error in {error}")
    check(not (folder / "never.npy").exists(), "convert leaves nothing after an error")


main(test_info, *([test_pages] if RANKS == "1" else []), test_describe, test_convert, test_narrow_range, test_uint64, test_csv, test_delimiters, test_signals, test_subfiles, test_content, test_links, test_errors)
