#!/usr/bin/env python3
"""Kills a node of a training in every phase. The others go on without a restart (ULFM), or a new job continues from the last checkpoint: compares
what both have trained in the end, and how long they paused.

usage: lost_nodes_test.py <mpirun> <lost_nodes> [<place> <sharing>]
"""

import os
import re
import subprocess
import sys
import tempfile

MPIRUN, PROGRAM = sys.argv[1:3]
PLACES = ["warmup", "step", "wait", "drain", "cooldown", "writing", "loading", "validation"]
RANKS_LEFT = {"rank": 3}
APART = 4 + 3  # batches by which nodes may be apart: interval and wait


def run(ranks, place, sharing, folder, *options):
    done = subprocess.run([MPIRUN, *options, "-n", str(ranks), PROGRAM, place, sharing, folder], capture_output=True, text=True, timeout=100,
                          env=os.environ | {"HEATPP_LOG": "warning"})
    last = re.findall(r"^ranks .*", done.stdout, re.M)
    numbers = {name: float(value) for name, value in re.findall(r"(\w+) (\S+)", last[-1])} if last else {}
    ends = re.findall(r"ends at (\S+)", done.stderr)
    moves = re.findall(r"they go on after (\S+) s", done.stderr)  # since MPI told rank 0 of the loss
    return numbers | ({"end": float(ends[0])} if ends else {}) | ({"moved": float(moves[-1])} if moves else {}), done


def check(what, ok, numbers, done):
    if not ok:
        sys.exit(f"{what}: got {numbers}, {done.returncode}, {done.stdout!r}, {done.stderr}")


def survive(place, sharing, whole):
    left = RANKS_LEFT.get(sharing, 2)
    with tempfile.TemporaryDirectory() as folder:
        numbers, done = run(4, place, sharing, folder, "--with-ft", "ulfm")
    what = f"{place}, {sharing}"
    check(f"{what}: the others go on", numbers.get("ranks") == left and numbers["complete"] == 1 and numbers["equal"] == 1, numbers, done)
    check(f"{what}: rank 0 tells how long it took", "moved" in numbers, numbers, done)
    check(f"{what}: nodes", numbers["nodes"] == (0 if sharing == "all" else 2 if sharing == "rank" else 1), numbers, done)
    check(f"{what}: each epoch once", numbers["epochs"] == 6, numbers, done)
    check(f"{what}: at most one synchronisation is lost", numbers["trained"] - numbers["batches"] <= APART, numbers, done)
    check(f"{what}: accuracy {whole}", numbers["loss"] < 1.5 * whole["loss"], numbers, done)
    return numbers


def restart(place, sharing):
    with tempfile.TemporaryDirectory() as folder:
        first, _ = run(4, place, sharing, folder)
        numbers, done = run(RANKS_LEFT.get(sharing, 2), "none", sharing, folder)
    check(f"{place}, {sharing}: a new job continues", numbers.get("complete") == 1, numbers, done)
    return numbers | {"pause": numbers["began"] - first["end"]}


def main():
    chosen = [tuple(sys.argv[3:5])] if len(sys.argv) > 3 else [
        *((place, "none") for place in PLACES), *(("wait", sharing) for sharing in ("optimizer", "weights", "all", "rank")), ("step", "patience"), ("drain", "optimizer")]
    for place, sharing in chosen:
        with tempfile.TemporaryDirectory() as folder:
            whole, _ = run(4, "none", sharing, folder)
        numbers = survive(place, sharing, whole)
        again = restart(place, sharing)
        if numbers["moved"] >= again["pause"]:
            sys.exit(f"{place}, {sharing}: a restart was faster: {numbers}, {again}")
        print(f"{place}, {sharing}: loss {numbers['loss']:.5f}, restart {again['loss']:.5f}, nothing lost {whole['loss']:.5f}; "
              f"moved in {numbers['moved']:.2f} s, paused {numbers['pause']:.2f} s, restart {again['pause']:.2f} s", flush=True)


if __name__ == "__main__":
    main()
