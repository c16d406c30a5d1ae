#!/usr/bin/env python3
"""Runs heatpp under a new Slurm: tests by srun, a training by sbatch that is queued again, and one that loses a node.

usage: slurm_test.py <heatpp-train> <heatpp> <goes_on> [<test program> ...]

The test programs are run by srun on 2 nodes of 2 ranks. Ends with 77, which ctest shows as skipped, if Slurm cannot be started.
"""

import json
import pathlib
import re
import sys
import tempfile

from cluster import Cluster

SCRIPT, TOOL, TRAINING, *PROGRAMS = sys.argv[1:]
BATCHES = 96  # of goes_on
TASKS = ("-N", "2", "-n", "4", "--ntasks-per-node=2")
JOB = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --no-kill
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@60
#SBATCH --output={root}/{name}.out
export HEATPP_TIMEOUT=20
exec {script} --folder {root}/{name} --pause 0 --requeue -- {training} {root}/{name} {place} {root}/node1.{name}
"""


def check(what, ok, shown):
    if not ok:
        sys.exit(f"{what}: got {shown}")


class Job:
    """A training in the queue, its output, and its last messages."""

    def __init__(self, cluster, name, place):
        self.cluster, self.name = cluster, name
        self.folder, self.mark = cluster.folder / name, cluster.folder / f"node1.{name}"
        script = cluster.folder / f"{name}.sbatch"
        script.write_text(JOB.format(root=cluster.folder, name=name, script=SCRIPT, training=TRAINING, place=place))
        said = cluster.output("sbatch", "--parsable", str(script))
        check("sbatch takes the job", said.strip().isdigit(), said)
        self.number = said.strip()

    def text(self):
        file = self.cluster.folder / f"{self.name}.out"
        return file.read_text() if file.exists() else ""

    def checkpoints(self):
        return list(self.folder.glob("checkpoint-*.pt"))

    def results(self):
        return [{key: float(value) for key, value in re.findall(r"(\w+) (\S+)", line)}
                for line in self.text().splitlines() if line.startswith("ranks ")]

    def state(self):
        return re.search(r"JobState=(\w+)", self.cluster.output("scontrol", "show", "job", self.number))[1]

    def wait_for_end(self):
        self.cluster.wait_until(lambda: self.state() in ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"),
                                f"job {self.name} has ended", 120, self.text)
        check(f"job {self.name} completes", self.state() == "COMPLETED", f"{self.state()}: {self.text()}")


def sees_the_nodes(cluster):
    said = cluster.output("srun", *TASKS, TOOL, "info", "--json")
    check("info is told as JSON", "{" in said, said)
    hosts = json.loads(said[said.index("{"):])["machine"]["ranks of each host"]  # behind what Slurm and MPI may warn of
    print("info:", hosts, flush=True)
    check("two nodes of two ranks", hosts == {"node0": 2, "node1": 2}, said)


def programs_pass(cluster):
    for program in PROGRAMS:
        said = cluster.output("srun", *TASKS, *program.split(), "--order", "lex", "--rng-seed", "1", timeout=400)
        print(f"{program}: {said.strip().splitlines()[-1]}", flush=True)
        check(f"{program} passes", "All tests passed" in said and "failed" not in said, said)


def failing_rank_ends_the_job(cluster):
    """The error is printed, and srun returns the status of the rank, or that of the ranks that Slurm then kills."""
    done = cluster.run("srun", "--kill-on-bad-exit=1", *TASKS, TRAINING, timeout=60)
    said = f"{done.stdout}status {done.returncode}"
    check("the error of a program is seen", "[goes_on] got too few arguments" in said and done.returncode != 0, said)


def queued_again(cluster):
    """The signal for the end of a job's time ends it with a checkpoint, from which the next run continues."""
    job = Job(cluster, "announced", "slow")
    cluster.wait_until(job.checkpoints, "a checkpoint is there")
    cluster.output("scancel", "--signal=USR1", "--batch", job.number)
    job.wait_for_end()
    first, last = job.results()
    print("queued again:", first, last, flush=True)
    check("it was stopped, and completed later", (first["complete"], last["complete"]) == (0, 1), job.text())
    check("no batch is trained twice", first["trained"] + last["trained"] == BATCHES, job.text())


def node_is_lost(cluster):
    """The job continues with the other node."""
    job = Job(cluster, "lost", "cycle")
    cluster.wait_until(job.mark.exists, "the node is to be lost")
    cluster.lose_node("node1")
    job.wait_for_end()
    (result,) = job.results()
    print("node lost:", result, flush=True)
    check("it completes without the node", (result["complete"], result["ranks"], result["nodes"]) == (1, 2, 1), job.text())
    check("the node is named", "without node1" in job.text(), job.text())


def main():
    missing = Cluster.missing()
    if missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    # Nodes have a /tmp of their own.
    with tempfile.TemporaryDirectory(dir=pathlib.Path.cwd(), prefix="slurm.") as root:
        with Cluster(root) as cluster:
            # lo: there may be no other network where this runs.
            cluster.env |= {"OMPI_MCA_btl_tcp_if_include": "lo", "OMP_NUM_THREADS": "1"}
            sees_the_nodes(cluster)
            programs_pass(cluster)
            failing_rank_ends_the_job(cluster)
            queued_again(cluster)
            node_is_lost(cluster)


if __name__ == "__main__":
    main()
