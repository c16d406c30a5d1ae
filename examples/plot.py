#!/usr/bin/env python3
"""Draws the numbers that the examples write: plot.py KIND NUMBERS [PICTURE.png]

    plot.py groups groups.npz               particles in groups, of examples/analysis/groups.cpp
    plot.py spectrum spectrum.npz           spectrum and correlation of a field, of examples/analysis/spectrum.cpp
    plot.py modes modes.npz                 modes of a simulation, of examples/heat_equation/modes.cpp
    plot.py gray_scott gray_scott.npz       a reaction in a box, of examples/gray_scott/main.cpp
    plot.py heat heat.vtkhdf                time steps of a plate, of examples/heat_equation/main.cpp
    plot.py pca pca.npz                     images in a plane, of examples/fashion_mnist/analytics.cpp
    plot.py training log.csv                losses and accuracy of a training, of examples/fashion_mnist/training.cpp
    plot.py segmentation segmentation.npz   blobs found in noise, of examples/segmentation/main.cpp

The picture is a PNG beside the numbers unless it is named. The script needs NumPy, matplotlib, and h5py for time steps; scripts/setup installs
them."""

import pathlib
import sys

try:
    import matplotlib
    import numpy as np
except ImportError as missing:
    sys.exit(f"plot: {missing}; expected NumPy and matplotlib, as scripts/setup installs them (build/venv/bin/python)")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402

CLASSES = ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]


def panels(count=1, width=5.6, height=4.4):
    """Returns a figure with `count` plots side by side."""
    figure, axes = plt.subplots(1, count, figsize=(width * count, height), dpi=100, layout="constrained", squeeze=False)
    return figure, axes[0]


def groups(numbers):
    figure, (axes,) = panels(width=6.4, height=5.4)
    x, y, z = numbers["positions"].T
    order = np.argsort(numbers["members"], kind="stable")  # the largest groups on top
    dots = axes.scatter(x[order], y[order], c=numbers["members"][order], s=2, norm=LogNorm(), linewidths=0)
    axes.set(title="Groups of at least 100 particles", xlabel="x [edge of the box]", ylabel="y [edge of the box]",
             xlim=(0, 1), ylim=(0, 1), aspect="equal")
    figure.colorbar(dots, ax=axes, label="particles in the group")
    return figure


def spectrum(numbers):
    figure, (left, right) = panels(2)
    power, correlation = numbers["power"], numbers["correlation"]
    slope, height = numbers["line"]
    k, fitted = np.arange(1, len(power)), np.arange(2, 20)
    left.loglog(k, power[1:], "o", markersize=4, label="field on 64 x 64 x 64 points")
    left.loglog(fitted, 10**height * fitted**slope, label=f"fit, k^{slope:.2f}")
    left.set(title="Power spectrum", xlabel="wave number k [1 / edge of the box]", ylabel="P(k)")
    left.legend()
    right.plot(np.arange(len(correlation)), correlation / correlation[0], "o-", markersize=3)
    right.axhline(0, color="grey", linewidth=0.8)
    right.set(title="Two-point correlation", xlabel="distance r [grid points]", ylabel="xi(r) / xi(0)")
    return figure


def modes(numbers):
    figure, (axes,) = panels()
    axes.semilogy(numbers["times"], numbers["solver"], label="solver")
    axes.semilogy(numbers["times"], numbers["modes"], "--", label="dynamic modes")
    axes.axvspan(0, float(numbers["fitted"]), alpha=0.15, label="snapshots that the modes are from")
    axes.set(title="Size of the temperature field", xlabel="time t", ylabel="Frobenius norm [degrees]")
    axes.legend()
    return figure


def heat(file):
    field, times = file["VTKHDF/PointData/temperature"], file["VTKHDF/Steps/Values"]
    width, height = (n * d for n, d in zip(reversed(field.shape[1:]), file["VTKHDF"].attrs["Spacing"]))
    steps = sorted({0, len(times) // 2, len(times) - 1})
    figure, all_axes = panels(len(steps), width=3.5, height=3.5)
    for axes, step in zip(all_axes, steps):
        image = axes.imshow(field[step], origin="lower", extent=(0, width, 0, height), cmap="inferno", vmin=0, vmax=field[0].max())
        axes.set(title=f"t = {times[step]:.4f}", xlabel="x [edge of the plate]", ylabel="y [edge of the plate]")
    figure.colorbar(image, ax=all_axes, label="temperature [degrees]")
    return figure


def gray_scott(numbers):
    figure, (left, middle, right) = panels(3, width=4.4, height=3.8)
    field, power = numbers["slice"], numbers["power"]
    image = left.imshow(field.T, origin="lower", extent=(0, len(field), 0, len(field)), cmap="viridis")
    left.set(title="Second substance, z in the middle", xlabel="x [cells]", ylabel="y [cells]")
    figure.colorbar(image, ax=left, label="concentration v", shrink=0.8)
    middle.semilogy(np.arange(1, len(power) + 1), power, "o-", markersize=3)
    middle.set(title="Power spectrum", xlabel="wave number k [1 / edge of the box]", ylabel="power of the shell")
    steps = numbers["every"] * np.arange(1, len(numbers["times"]) + 1)
    for component in range(3):
        share = 100 * numbers["explained"][component]
        right.plot(steps, numbers["times"][:, component], "o-", markersize=3, label=f"{share:.1f} % of the variance")
    right.set(title="Principal components", xlabel="time [steps]", ylabel="coefficient of the component")
    right.legend()
    return figure


def pca(numbers):
    figure, (axes,) = panels(width=6.8, height=5.2)
    for label, name in enumerate(CLASSES):
        x, y = numbers["points"][numbers["labels"] == label].T
        axes.scatter(x, y, s=5, color=plt.cm.tab10(label), linewidths=0, label=name)
    first, second = 100 * numbers["explained"]
    axes.set(title="Fashion-MNIST in the plane of two principal components", xlabel=f"first component, {first:.0f} % of the variance",
             ylabel=f"second component, {second:.0f} %")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), markerscale=2, frameon=False)
    return figure


def training(table):
    figure, (left, right) = panels(2)
    left.plot(table["batch"], table["loss"], "o-", label="training")
    left.plot(table["batch"], table["validation loss"], "s--", label="test images")
    left.set(title="Loss", xlabel="batches", ylabel="cross-entropy [nats]")
    left.legend()
    right.plot(table["batch"], 100 * table["accuracy"], "s--", color="tab:orange", label="test images")
    right.set(title="Accuracy", xlabel="batches", ylabel="right answers [%]")
    right.legend()
    return figure


def segmentation(numbers):
    figure, all_axes = panels(3, width=3.6, height=3.4)
    found = 1 / (1 + np.exp(-numbers["scores"][0, 0]))
    shown = [("field with noise", numbers["fields"][0, 0], "signal"), ("blobs that are there", numbers["masks"][0, 0], "mask"),
             ("blobs that the network finds", found, "probability")]
    for axes, (title, values, unit) in zip(all_axes, shown):
        image = axes.imshow(values, origin="lower", cmap="viridis", **({} if unit == "signal" else {"vmin": 0, "vmax": 1}))
        axes.set(title=title, xlabel="x [pixels]", ylabel="y [pixels]")
        figure.colorbar(image, ax=axes, label=unit, shrink=0.8)
    return figure


def read(path):
    if path.suffix == ".csv":
        return np.genfromtxt(path, delimiter=",", names=True, deletechars="", replace_space=" ")
    if path.suffix == ".vtkhdf":
        import h5py

        return h5py.File(path)
    return np.load(path)


KINDS = {draw.__name__: draw for draw in (groups, spectrum, modes, gray_scott, heat, pca, training, segmentation)}


def main(arguments):
    if not 2 <= len(arguments) <= 3 or arguments[0] not in KINDS:
        sys.exit(f"plot: got {' '.join(arguments)!r}; expected KIND NUMBERS [PICTURE.png], KIND one of {', '.join(KINDS)}")
    numbers = pathlib.Path(arguments[1])
    picture = pathlib.Path(arguments[2]) if len(arguments) == 3 else numbers.with_suffix(".png")
    if picture.suffix != ".png":
        sys.exit(f"plot: got picture {str(picture)!r}; expected a name that ends with .png")
    figure = KINDS[arguments[0]](read(numbers))
    figure.savefig(picture)
    print(f"plot: {picture}")


if __name__ == "__main__":
    main(sys.argv[1:])
