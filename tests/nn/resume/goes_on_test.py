#!/usr/bin/env python3
"""Kills nodes, ranks and programs under scripts/heatpp-train, and checks what was trained in the end.

usage: goes_on_test.py <heatpp-train> <mpirun> <goes_on>

The nodes "a" and "b" are two daemons of Open MPI or MPICH on this machine, which mpirun reaches through a shell of this test: MPI and heatpp take
them for different machines. srun and scontrol are stand-ins that follow Slurm's manual pages.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SCRIPT, MPIRUN, PROGRAM = sys.argv[1:4]
BATCHES = 96
OF_MPICH = "HYDRA" in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout

# Reaches a host that is not down. Files of daemons and ranks are separate, as on two machines.
AGENT = """#!/bin/sh
host=$1; shift
[ -e "$NODES/$host.down" ] && exit 255
mkdir -p "$NODES/$host"
export HOST_OF_TEST=$host TMPDIR=$NODES/$host OMPI_MCA_orte_tmpdir_base=$NODES/$host
export OMPI_MCA_btl_vader_backing_directory=$NODES/$host OMPI_MCA_osc_sm_backing_directory=$NODES/$host
exec sh -c "$*"
"""
SRUN = """#!/usr/bin/env python3
import os, signal, subprocess, sys
rest, given = sys.argv[1:], {}
while rest[0].startswith("--"):
    name, _, value = rest.pop(0)[2:].partition("=")
    given[name] = value
hosts = given["nodelist"].split(",")
assert len(hosts) == int(given["nodes"])
assert "overlap" in given
if rest == ["true"]:
    sys.exit(subprocess.run([os.environ["NODES"] + "/agent", hosts[0], *rest]).returncode)
assert given["kill-on-bad-exit"] == "1" and int(given["ntasks"]) == len(hosts) * int(given["ntasks-per-node"])
each = given["ntasks-per-node"]
child = subprocess.Popen([*os.environ["MPIRUN"].split(), ",".join(f"{host}:{each}" for host in hosts), "-n", given["ntasks"], *rest])
signal.signal(signal.SIGUSR1, lambda number, frame: child.send_signal(number))
sys.exit(child.wait())
"""
SCONTROL = """#!/bin/sh
case "$*" in
  "show hostnames [a-b]") echo a; echo b ;;
  *) echo "$*" >> "$NODES/scontrol.log" ;;
esac
"""


class Place:
    """A folder with two nodes, and what runs on them."""

    def __init__(self, root, slurm=False):
        self.root = pathlib.Path(root)
        self.folder = self.root / "out"
        for name, text in {"agent": AGENT, "srun": SRUN, "scontrol": SCONTROL}.items():
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o755)
        agent = f"-launcher rsh -launcher-exec {root}/agent -hosts" if OF_MPICH else f"--mca plm_rsh_agent {root}/agent --host"
        # lo: there may be no other network on this machine. MPICH lets ranks wait for a lost node.
        self.env = os.environ | {"NODES": root, "MPIRUN": f"{MPIRUN} {agent}", "PATH": f"{root}:{os.environ['PATH']}",
                                 "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"} | ({"HEATPP_TIMEOUT": "8"} if OF_MPICH else {})
        self.options = ["--folder", str(self.folder), "--pause", "0"]
        if slurm:
            self.env |= {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "[a-b]", "SLURM_TASKS_PER_NODE": "2(x2)"}
            self.options += ["--requeue"]
        else:
            self.options += ["--launch", MPIRUN, "--rsh", f"{root}/agent", "--hosts", "a:2,b:2"]

    def start(self, *program, options=None):
        return subprocess.Popen([SCRIPT, *(self.options if options is None else options), "--", *program], env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *program, options=None):
        return ended(self.start(*program, options=options))

    def train(self, place, mark="b.down"):
        return self.start(PROGRAM, str(self.folder), place, str(self.root / mark))


class Ended:
    def __init__(self, process):
        self.out, self.err = process.communicate(timeout=100)
        self.code = process.returncode
        self.starts = re.findall(r"starts .*, from (.*)", self.err)

    def numbers(self):
        """Returns the last output of the program."""
        found = re.findall(r"(\w+) (\S+)", self.out.splitlines()[-1])
        return {name: float(value) for name, value in found}


def ended(process):
    return Ended(process)


def check(what, ok, shown):
    if not ok:
        sys.exit(f"{what}: got {shown.code}, {shown.out!r}, {shown.err}")


def complete(what, done, *, starts, ranks, loss):
    check(what, done.code == 0 and len(done.starts) == starts, done)
    numbers = done.numbers()
    print(f"{what}: from {done.starts[-1]}, {numbers}", flush=True)
    check(what, numbers["ranks"] == ranks and numbers["nodes"] == ranks / 2 and numbers["complete"] == 1, done)
    check(what, numbers["batches"] == BATCHES and numbers["loss"] < loss, done)
    return numbers


def number_of(name):
    return int(re.search(r"checkpoint-(\d+)", name)[1])


def lost_nodes(loss):
    """The last work of the lost node is trained again from the newest undamaged checkpoint on, and nothing else."""
    places = {"warmup": 5, "cycle": 45, "writing": 50, "cooldown": 70, "damaged": 45}
    for place, host, slurm in [*((place, "b", False) for place in places), ("cycle", "a", False), ("cycle", "b", True)]:
        with tempfile.TemporaryDirectory() as root:
            at = Place(root, slurm)
            done = ended(at.train(place, f"{host}.down"))
            numbers = complete(f"node {host} lost, {place}, Slurm {slurm}", done, starts=2, ranks=2, loss=loss)
            newest, began = number_of(done.starts[1]), BATCHES - numbers["trained"]
            check("the newest checkpoint is no older than the one before the last", newest >= places[place], done)
            check("where it went on", newest - 5 <= began < newest if place == "damaged" else began == newest, done)
            check("the lost host is named", f"without {host}" in done.err, done)
            rows = (at.folder / "log.csv").read_text().splitlines()[1:]
            check(f"a row for each epoch {rows}", [int(row.split(",")[0]) for row in rows] == list(range(16, 97, 16)), done)
            left = [file.name for file in at.folder.iterdir() if file.name.startswith(".")]
            check(f"no file is left behind {left}", not left, done)


def lost_rank(loss):
    with tempfile.TemporaryDirectory() as root:
        at = Place(root)
        complete("a rank lost", ended(at.train("rank", "b.died")), starts=2, ranks=4, loss=loss)


def stopped(slurm, loss):
    """A signal ends the training with a checkpoint, from which it continues later."""
    with tempfile.TemporaryDirectory() as root:
        at = Place(root, slurm)
        process = at.train("slow")
        while not list(at.folder.glob("checkpoint-*.pt")) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGUSR1 if slurm else signal.SIGTERM)
        done = ended(process)
        check("stopped by a signal", done.code == 75 and len(done.starts) == 1 and done.numbers()["complete"] == 0, done)
        check("into the queue again", not slurm or (at.root / "scontrol.log").read_text() == "requeue 7\n", done)
        before = done.numbers()["trained"]
        after = complete("a signal" + (", Slurm" if slurm else ""), ended(at.train("none")), starts=1, ranks=4, loss=loss)
        check("no batch is trained twice", before + after["trained"] == BATCHES, done)


def failures():
    """Programs that fail by themselves, on this machine without MPI."""
    with tempfile.TemporaryDirectory() as root:
        at = Place(root)
        at.folder.mkdir()
        here = ["--folder", str(at.folder), "--pause", "0", "--launch", "env"]
        done = at.run("sh", "-c", "exit 3", options=here)
        check("an error is not tried again", done.code == 3 and len(done.starts) == 1, done)
        done = at.run("sh", "-c", "kill -9 $$", options=here)
        check("the tries end", done.code == 137 and len(done.starts) == 3, done)
        once = f"cd {at.folder}; [ -e checkpoint-00000009.pt ] && exit 4; touch checkpoint-00000009.pt; exit 3"
        done = at.run("sh", "-c", once, options=here)
        check("an error after a checkpoint is tried again", done.code == 4 and len(done.starts) == 2, done)
        for host in "ab":
            (at.root / f"{host}.down").touch()
        done = at.run("true")
        check("no host", done.code == 75 and not done.starts, done)


def main():
    failures()
    with tempfile.TemporaryDirectory() as root:
        whole = complete("nothing lost", ended(Place(root).train("none")), starts=1, ranks=4, loss=1)
    loss = 1.2 * whole["loss"]
    lost_nodes(loss)
    lost_rank(loss)
    for slurm in (False, True):
        stopped(slurm, loss)


if __name__ == "__main__":
    main()
