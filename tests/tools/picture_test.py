"""Tests the pictures that the program heatpp draws."""

import xml.etree.ElementTree

import numpy as np
from tool import check, main, run, write_shards


def test_histogram(folder):
    write_shards(folder)
    shards = f"{folder}/part-*.h5"
    run("describe", shards, "-d", "run/x", "--picture", folder / "x.svg")
    texts = [node.text for node in xml.etree.ElementTree.parse(folder / "x.svg").iter() if node.tag.endswith("text")]
    check("mean" in texts and f"{shards}: run/x" in texts, "describe draws a histogram")
    check("got --bins, --picture for" in run("describe", folder / "part-0.h5", "--picture", folder / "y.svg", "--bins", 3, code=1),
          "describe tells that a file has several arrays to draw")


def test_elements(folder):
    run("describe", f"{folder}/part-*.h5", "-d", "run/x", "--memory", "2KB", "--picture", folder / "x.png")
    png = (folder / "x.png").read_bytes()
    check(png[:8] == b"\x89PNG\r\n\x1a\n" and png[16:24] == bytes([0, 0, 0, 40, 0, 0, 0, 101]), "describe draws the elements")


def test_errors(folder):
    np.save(folder / "gaps.npy", np.full(3, np.nan))
    check("--picture" in run("describe", folder / "gaps.npy", "--picture", folder / "x.jpg", code=2), "a picture is .svg or .png")


main(test_histogram, test_elements, test_errors)
