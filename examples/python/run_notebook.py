"""Runs the cells of a notebook one after the other, on several ranks with `mpirun -n 4 python run_notebook.py NOTEBOOK`; pictures are not shown."""

import json
import sys

import matplotlib

matplotlib.use("Agg")

with open(sys.argv[1]) as file:
    cells = json.load(file)["cells"]
names = {"__name__": "__main__"}
for number, cell in enumerate(cells):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
