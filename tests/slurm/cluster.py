"""A Slurm cluster on this machine. It has one controller. Its nodes are namespaces, each with its own name, processes, /tmp and
shared memory, so that Slurm, PMIx and MPI take them for machines. They share the network, the disk and the cores.
"""

import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "unshare")
CONFIGURATION = """
ClusterName=heatpp
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SlurmdParameters=config_overrides
SlurmdTimeout=6
KillWait=2
ReturnToService=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NAMESPACES = ("unshare", "--uts", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
# The program that a node runs in its namespaces.
NODE = "hostname {name}; mount -t tmpfs tmpfs /tmp; mount -t tmpfs tmpfs /dev/shm; slurmd -D"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [at.getsockname()[1] for at in sockets]
    for at in sockets:
        at.close()
    return ports


class Cluster:
    """Runs from `with` on, with `nodes` nodes of `cpus` processors, and keeps its files and logs in a folder."""

    def __init__(self, folder, nodes=2, cpus=4):
        self.folder = pathlib.Path(folder)
        port, *ports = free_ports(nodes + 1)
        self.nodes = {f"node{i}": at for i, at in enumerate(ports)}
        self.env = os.environ | {"SLURM_CONF": f"{folder}/slurm.conf"}
        self.running = {}
        lines = [f"NodeName={name} NodeAddr=127.0.0.1 Port={at} CPUs={cpus}" for name, at in self.nodes.items()]
        text = CONFIGURATION.format(folder=folder, host=socket.gethostname(), port=port)
        (self.folder / "state").mkdir(parents=True)
        (self.folder / "slurm.conf").write_text(text + "\n".join(lines) + "\n")
        key = self.folder / "munge.key"
        key.touch(0o400)
        key.write_bytes(secrets.token_bytes(1024))

    @staticmethod
    def missing():
        """Returns a text that names what this machine lacks for a cluster."""
        absent = [name for name in PROGRAMS if not shutil.which(name)]
        if absent:
            return f"no {', '.join(absent)} (Debian: slurm-wlm, munge)"
        made = subprocess.run([*NAMESPACES, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return "" if made.returncode == 0 else f"no namespaces of its own ({made.stderr.strip()})"

    def start(self, name, *command):
        log = open(self.folder / f"{name}.out", "wb")
        self.running[name] = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              start_new_session=True)

    def start_node(self, name):
        self.start(name, *NAMESPACES, "bash", "-c", NODE.format(name=name))

    def lose_node(self, name):
        """Ends everything on the node at once, as a power cut does."""
        self.running.pop(name).kill()

    def __enter__(self):
        at = self.folder
        self.start("munged", "munged", "--foreground", "--force", f"--key-file={at}/munge.key", f"--socket={at}/munge.socket",
                   f"--pid-file={at}/munge.pid", f"--log-file={at}/munge.log", f"--seed-file={at}/munge.seed")
        self.wait_until(lambda: (at / "munge.socket").exists(), "munge answers")
        self.start("slurmctld", "slurmctld", "-D", "-c")
        for name in self.nodes:
            self.start_node(name)
        self.wait_until(lambda: self.output("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(len(self.nodes)), "all nodes idle")
        return self

    def __exit__(self, *_):
        for process in reversed(self.running.values()):
            process.send_signal(signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()

    def run(self, *command, timeout=120):
        """Runs a command to its end, and returns it with its output, including errors."""
        return subprocess.run(command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=timeout)

    def output(self, *command, timeout=120):
        """Returns the output of a command with any status: it may be refused while the cluster starts."""
        return self.run(*command, timeout=timeout).stdout

    def wait_until(self, holds, what, timeout=60, shown=str):
        end = time.monotonic() + timeout
        while not holds():
            if time.monotonic() > end:
                logs = "\n".join(f"{file.name}:\n{file.read_text()[-2000:]}" for file in sorted(self.folder.glob("*.log")))
                raise TimeoutError(f"waited {timeout} s until {what}\n{shown()}\n{logs}")
            time.sleep(0.2)
