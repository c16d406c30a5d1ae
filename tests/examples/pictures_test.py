"""Checks that the pictures of the examples have the types of their names and are not empty: pictures_test.py BUILD SOURCES MPIEXEC FLAG RANKS.

Runs the examples in a new folder, draws the numbers that they write, and opens every picture, also those of the documentation."""

import pathlib
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

BUILD, SOURCES = map(pathlib.Path, sys.argv[1:3])
LAUNCHER = sys.argv[3:]
PLOT = SOURCES / "examples/plot.py"
# Kind, program, its arguments, and the numbers that it writes.
EXAMPLES = [("groups", "groups", ["groups.npz"], "groups.npz"),
            ("spectrum", "spectrum", ["spectrum.npz"], "spectrum.npz"),
            ("modes", "heat_equation/heat_modes", ["modes.npz"], "modes.npz"),
            ("gray_scott", "gray_scott/gray_scott", ["gray_scott.npz"], "gray_scott.npz"),
            ("heat", "heat_equation/heat_equation", ["--points", "64", "--steps", "200", "--out", "."], "heat.vtkhdf"),
            ("segmentation", None, [], BUILD / "tests/segmentation.npz")]  # which another test has written
MOST_BYTES = 100_000  # of a picture of the README


def open_png(path):
    """Returns width and height. Checks the signature and the pixels."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR", f"{path}: got {data[:16]}; expected a PNG"
    width, height = struct.unpack(">II", data[16:24])
    pixels = plt.imread(path)
    assert pixels.shape[:2] == (height, width), f"{path}: got {pixels.shape} pixels for {width} x {height}"
    assert len(np.unique(pixels.reshape(height * width, -1), axis=0)) > 20, f"{path}: got a picture of one color or few"
    return width, height


def open_svg(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(root), f"{path}: got {root.tag}; expected an SVG"


def check_example(kind, program, arguments, numbers, folder):
    if program:
        subprocess.run([*LAUNCHER, BUILD / "examples" / program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    picture = folder / f"{kind}.png"
    subprocess.run([sys.executable, PLOT, kind, folder / numbers, picture], check=True)
    width, height = open_png(picture)
    assert width >= 400 and height >= 300, f"{kind}: got {width} x {height} pixels; expected some hundreds"


def check_refusals(folder):
    for wrong in (["groups"], ["pie", folder / "groups.npz"], ["groups", folder / "groups.npz", folder / "groups.svg"]):
        done = subprocess.run([sys.executable, PLOT, *wrong], capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.startswith("plot: got ") and "; expected " in done.stderr, done.stderr


with tempfile.TemporaryDirectory() as root:
    for example in EXAMPLES:
        check_example(*example, pathlib.Path(root))
    check_refusals(pathlib.Path(root))
    loads = np.load(pathlib.Path(root, "groups.npz"))
    assert loads["positions"].shape == (len(loads["members"]), 3) and loads["members"].min() >= 100
drawn = [path for path in (SOURCES / "docs").rglob("*.*") if path.suffix in (".png", ".svg")]
for path in drawn:
    open_png(path) if path.suffix == ".png" else open_svg(path)
for path in (SOURCES / "docs/images").glob("*.png"):
    assert path.stat().st_size < MOST_BYTES, f"{path}: got {path.stat().st_size} bytes; expected fewer than {MOST_BYTES}"
print(f"{len(EXAMPLES)} examples draw PNG; {len(drawn)} pictures of the documentation are what their names say")
