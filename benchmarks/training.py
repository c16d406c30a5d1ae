"""The training workloads: steps beside PyTorch's DistributedDataParallel, and races on slow networks."""
import contextlib
import importlib.machinery
import json
import os
import statistics
import subprocess
import sys
import tempfile
import types

import contest
import traffic

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = (1, 2, 3)
PAIRED_SEEDS = (1, 2, 3, 4, 5, 6)  # of differences between wires
READ = 4 * 2048  # images in the files of reading_peer.py
TARGET = 0.88  # test accuracy on Fashion-MNIST
RATES = (2000, 1000, 500, 200, 50)  # Mbit/s of a node's link
RACES = (1000, 500)  # ... at which all trainings run to the end
ALONE = (2000, 200, 50)  # ... at which DASO does, that sets itself and that is set by hand
UNLIMITED = 100000  # ... at which nothing waits for the wire: what the cores allow
CNN = ["--model", "cnn", "--learning-rate", "0.05"]  # the perceptron's rate does not converge
LINKS = (200, 50)  # ... at which the wire alone is timed
REACH = (UNLIMITED, 500, 50, 20)  # ... at which bytes and peak rates are counted
PATIENCE = 0.05  # seconds that nodes wait for a slow one
NODES, RANKS_EACH, BATCH = 4, 2, 256
EPOCH = 60000 // (NODES * RANKS_EACH * BATCH)  # batches
WEIGHT_BYTES = 4 * (784 * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 10 + 10)
WIRES = ("float32", "bfloat16", "int8")
FOUR_BITS = ("int4", "float4")
RULES = ("daso", "alpha", "delta", "outer")
OUTER = ["--outer-rate", "0.7", "--outer-momentum", "0.5"]


def cycle(interval, wait, *more):
    """Returns DASO with an interval that the loss does not change."""
    return ["--mode", "daso", "--interval", str(interval), "--wait", str(wait), "--review", "1000000", *more]


# The nodes synchronize every four batches; if steps are timed and the network takes longer, less often.
# A training begins with an epoch of gradients averaged over all ranks, while the loss falls fastest.
TIMED, TRAINED = (8, cycle(4, 1, "--measured")), (EPOCH, cycle(4, 1))


def carried(wire):
    return ["--weights-wire", wire, "--wire", wire]


# Prints what each node has sent, ten times a second; in the namespace of the switch.
SAMPLER = """
import time
while True:
    lines = open("/proc/net/dev").read().replace(":", " ").splitlines()
    print(time.monotonic(), *(line.split()[1] for line in sorted(lines) if line.strip().startswith("port")), flush=True)
    time.sleep(0.1)
"""


def lab():
    """Returns the script `lab` as a module."""
    loader = importlib.machinery.SourceFileLoader("lab", os.path.join(HERE, "lab"))
    module = types.ModuleType(loader.name)
    module.__file__ = loader.path
    loader.exec_module(module)
    return module


class Training:
    def __init__(self, build, python, environment, repeats, limit, beside=None):
        self.beside = beside and os.path.join(beside, "heatpp_trainer")
        self.trainer = os.path.join(build, "release", "benchmarks", "heatpp_trainer")
        self.converter = os.path.join(build, "release", "examples", "fashion_mnist", "convert_fashion_mnist")
        self.peer = [python, os.path.join(HERE, "peers", "ddp_peer.py")]
        self.environment = {**environment, "OMP_NUM_THREADS": "1"}
        self.repeats, self.limit = repeats, limit
        self.data = os.path.join(environment["HEATPP_BENCH_DATA"], "fashion_mnist")

    def make_data(self):
        if not os.path.exists(os.path.join(self.data, "test-00.h5")):
            subprocess.run([self.converter, "--to", self.data], env=self.environment, check=True)

    def compete(self, commands):
        """Times a step of each command, in turns, in seconds; gives the reason for those that failed."""
        contestants, table = {}, {}
        try:
            for name, command in commands.items():
                try:
                    contestants[name] = contest.Contestant(command, self.environment, self.limit)
                except contest.Failed as reason:
                    table[name] = {"missing": str(reason)}
            failed = contest.take_turns(contestants, self.repeats, lambda: None)
        finally:
            for contestant in contestants.values():
                contestant.end()
        for name, contestant in contestants.items():
            table[name] = {"missing": failed[name]} if name in failed else contest.seconds(contestant)
        return table

    # One machine.

    def step(self):
        right = True
        for model, batch in (("mlp", 256), ("cnn", 128)):
            arguments = ["turns", "--model", model, "--batch", str(batch)]
            here = ["mpirun", "-n", "2"]
            other = {"beside": [*here, self.beside, *arguments]} if self.beside else {}
            table = self.compete({
                **other,
                "none": [*here, self.trainer, *arguments, "--mode", "none"],
                "waiting": [*here, self.trainer, *arguments, "--mode", "waiting"],
                "data_parallel": [*here, self.trainer, *arguments],
                "ddp_none": [*here, *self.peer, *arguments, "--mode", "none", "--port", "29518"],
                "ddp": [*here, *self.peer, *arguments],
            })
            line = {"workload": "train.step", "variant": model, "ranks": 2, "batch": batch, **table}
            if not any("missing" in result for result in table.values()):
                line["added"] = {ours: round(table[ours]["median"] - table[alone]["median"], 6)
                                 for ours, alone in (("data_parallel", "none"), ("ddp", "ddp_none"), ("waiting", "none"))}
            print(json.dumps(line), flush=True)
            right &= "seconds" in table["data_parallel"]
        return right

    def sharded(self):
        """Times a step of a transformer of 99 M parameters, by DataParallel and with weights and gradients that the ranks of a node share."""
        arguments = ["turns", "--model", "transformer", "--batch", "4", "--steps", "1"]
        table = self.compete({mode: ["mpirun", "-n", "2", self.trainer, *arguments, "--mode", mode] for mode in ("data_parallel", "sharded")})
        line = {"workload": "train.sharded", "variant": "transformer", "ranks": 2, "batch": 4, **table}
        right = all("seconds" in result for result in table.values())
        if right:
            line["ratio"] = round(table["sharded"]["seconds"] / table["data_parallel"]["seconds"], 3)
        print(json.dumps(line), flush=True)
        return right

    def checkpoint(self):
        """Times saving a perceptron of 20 M parameters and its momentum, 160 MB, to the disk, beside PyTorch's ways; each checks what it
        reads back."""
        path = lambda name: os.path.join(self.environment["HEATPP_BENCH_DATA"], f"saved_by_{name}")
        arguments = ["save", "--model", "wide", "--batch", "8"]
        here = ["mpirun", "-n", "2"]
        other = {"beside": [*here, self.beside, *arguments, "--out", path("beside.ckpt")]} if self.beside else {}
        table = self.compete({**other, "heatpp": [*here, self.trainer, *arguments, "--out", path("heatpp.ckpt")],
                              **{name: [*here, *self.peer, *arguments, "--mode", mode, "--out", path(mode), "--port", port]
                                 for name, mode, port in (("torch.save", "ddp", "29519"), ("torch.distributed.checkpoint", "dcp", "29520"))}})
        for name, result in table.items():
            if "seconds" in result and "seconds" in table["heatpp"]:
                result["ratio"] = round(result["seconds"] / table["heatpp"]["seconds"], 2)
        print(json.dumps({"workload": "train.checkpoint", "variant": "wide", "ranks": 2, **table}), flush=True)
        return "seconds" in table["heatpp"]

    # Reading.

    def read(self):
        """Times reading from four HDF5 files in a new order each epoch, normalized, in batches of 64, by one rank, in images a second."""
        prefix = os.path.join(self.environment["HEATPP_BENCH_DATA"], "images")
        peer = [self.peer[0], os.path.join(HERE, "peers", "reading_peer.py")]
        if not os.path.exists(f"{prefix}-gzip-03.h5"):
            subprocess.run([*peer, prefix, "--make"], check=True)
        right = True
        for kind in ("plain", "gzip"):
            files = f"{prefix}-{kind}-*.h5"
            ours = lambda readers, workers, trainer=self.trainer: ["mpirun", "-n", "1", "--bind-to", "none", trainer, "read", "--data", files,
                                                                   "--batch", "64", "--readers", str(readers), "--workers", str(workers)]
            commands = {f"readers {readers}, workers {workers}": ours(readers, workers)
                        for readers, workers in ((1, 0), (2, 0), (1, 1), (2, 2))}
            if self.beside:
                commands |= {f"beside: readers {n}, workers {n - 1}": ours(n, n - 1, self.beside) for n in (1, 2)}
                commands["readers 2, workers 1"] = ours(2, 1)
            commands |= {"h5py, a loop": [*peer, files]}
            commands |= {f"DataLoader, {workers} workers": [*peer, files, "--workers", str(workers)] for workers in (1, 2)}
            table = self.compete(commands)
            for name, result in table.items():
                if "seconds" in result:
                    result["images"] = round(READ / result["seconds"])
            print(json.dumps({"workload": "train.read", "variant": kind, **table}), flush=True)
            right &= all("seconds" in table[name] for name in list(table)[:4])
        return right

    # The network lab.

    @contextlib.contextmanager
    def network(self, rate):
        module = lab()
        if not module.may_make_namespaces():
            raise contest.Failed("this user may make no network namespaces, or `ip` and `tc` are not installed")
        racks = [[RANKS_EACH] * NODES]
        self.switch = module.SWITCH
        with module.alone(), module.network(racks, [rate]), tempfile.TemporaryDirectory() as folder:
            yield lambda command: module.mpirun(folder, racks, types.SimpleNamespace(
                mca=[], placement="block", export=["OMP_NUM_THREADS=1"], command=command))

    def in_lab(self, launch, warm_up, daso):
        """Returns each program as it runs on the nodes."""
        warm_up = ["--warm-up", str(warm_up)]
        daso = [*warm_up, *daso]
        outer = [*daso, "--merge", "outer", *OUTER]
        ours = {"none": ["--mode", "none"], "data_parallel": [], "daso": outer,
                **{f"daso_{wire}": [*outer, *carried(wire)] for wire in (*WIRES[1:], "int4")},
                "daso_pairs": [*daso, "--partners", "pairs"],
                "daso_delta_int8": [*daso, *carried("int8")],
                "daso_published": ["--mode", "daso", "--published", "--review", str(EPOCH), "--wire", "bfloat16", *warm_up],
                "daso_automatic": ["--mode", "daso", "--automatic", "--wire", "int8", *warm_up]}
        programs = {name: ([self.trainer], options) for name, options in ours.items()}
        programs["ddp"] = (self.peer, ["--master", "10.77.0.1", "--interface", "eth0"])
        return {name: lambda *more, program=program, options=options: launch([*program, *more, *options])
                for name, (program, options) in programs.items()}

    def steps_in_lab(self, rate):
        with self.network(rate) as launch:
            return self.compete({name: make("turns", "--batch", str(BATCH), "--steps", "16")
                                 for name, make in self.in_lab(launch, *TIMED).items()})

    def link(self, rate):
        """Measures how long a blocking synchronization of the nodes waits, beside the time that the wire takes."""
        with self.network(rate) as launch:
            done = self.race(launch([self.trainer, "race", "--data", self.data, "--batch", "1024", "--epochs", "2", "--evaluations", "1",
                                     *cycle(1, 0)]))
        wire = 2 * (NODES - 1) / NODES * WEIGHT_BYTES * 8 / (rate * 1e6)
        waited = done["exposed"] / (done["steps"] + 2)  # the drain at the end averages weights and momenta once more
        return {"workload": "lab.daso", "variant": f"blocking, {rate} Mbit/s", "seconds": round(waited, 4), "wire": round(wire, 4),
                "over_wire": round(waited / wire, 3)}

    def race(self, command, limit=None):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=limit or self.limit * 10)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            told = [line for line in done.stderr.splitlines() if line.strip("- ")]
            raise contest.Failed("; ".join(told or ["no message"])[:400])
        return json.loads(lines[-1])

    def races_in_lab(self, rate, names, *more):
        """Measures the seconds to the target, for each seed in turn."""
        results = {name: [] for name in names}
        for seed in SEEDS:
            with self.network(rate) as launch:
                for name in names:
                    command = self.in_lab(launch, *TRAINED)[name]("race", "--data", self.data, "--batch", str(BATCH), "--seed", str(seed),
                                                        "--target", str(TARGET), "--cap", "400", "--evaluations", "1", *more)
                    results[name].append(self.race(command))
        return results

    def watched(self, command):
        """Returns a race's result, with the bytes that left the nodes and the peak rate of one, in Mbit/s over a tenth of a second, as their devices
        count: with the packets' headers, evaluations and the start."""
        with subprocess.Popen(["ip", "netns", "exec", self.switch, sys.executable, "-c", SAMPLER], stdout=subprocess.PIPE, text=True) as sampler:
            try:
                done = self.race(command, limit=6 * 3600)
            finally:
                sampler.terminate()
            samples = [[float(number) for number in line.split()] for line in sampler.stdout]
        samples = [sample for sample in samples if len(sample) == NODES + 1]
        rates = [(b - a) * 8e-6 / (two[0] - one[0]) for one, two in zip(samples, samples[1:]) for a, b in zip(one[1:], two[1:])]
        left = sum(samples[-1][1:]) - sum(samples[0][1:])
        images = done["steps"] * BATCH * NODES * RANKS_EACH
        # gloo does not count what it sends; its evaluations are two numbers.
        return {**done, "sent": done.get("sent", left), "left": left, "peak": max(rates), "images": images}

    def programs_of_reach(self, launch):
        programs = self.in_lab(launch, *TRAINED)
        options = ["--mode", "daso", "--automatic", "--wire", "int8", "--warm-up", str(EPOCH)]
        if self.beside:
            programs["daso_automatic_before"] = lambda *more: launch([self.beside, *more, *options])
        return {name: programs[name] for name in ("ddp", "daso_int8", "daso_automatic", "daso_automatic_before") if name in programs}

    def slow_programs(self, launch):
        """Returns a DASO of even nodes, and of a node at half speed without and with patience."""
        even = self.in_lab(launch, *TRAINED)["daso_int8"]
        slow = lambda *more: even(*more, "--slow-node", str(NODES - 1))  # noqa: E731
        return {"even": even, "slow": slow, "slow_patience": lambda *more: slow(*more, "--patience", str(PATIENCE))}

    def reach(self, rates=REACH, seeds=PAIRED_SEEDS, target=TARGET, pictures=os.path.join(HERE, "..", "docs")):
        """Races to the target at slow links, with the bytes between nodes for each trained image and the peak rate, and with a slow node."""
        self.make_data()
        race = ("race", "--data", self.data, "--batch", str(BATCH), "--target", str(target), "--cap", "1800", "--evaluations", "1", "--epochs", "40")
        curves = []
        for rate in rates:
            for variant, choose in (("reach", self.programs_of_reach), ("slow node", self.slow_programs)):
                results = {}
                for seed in seeds:
                    with self.network(rate) as launch:
                        for name, make in choose(launch).items():
                            results.setdefault(name, []).append(self.watched(make(*race, "--seed", str(seed))))
                for name, done in results.items():
                    print(json.dumps({**summary(f"{variant}, {rate} Mbit/s", name, done), **traffic.of(done)}), flush=True)
                if variant == "reach" and rate == rates[-1]:
                    curves = [traffic.curve_of(NODES, name, done[0]) for name, done in results.items()]
        self.draw(curves, f"{pictures}/accuracy_bytes.svg", "Accuracy by bytes between nodes", "log10 of bytes for each node", "test accuracy")
        return True

    def races(self, rates, names, of="", more=()):
        for rate in rates:
            for name, results in self.races_in_lab(rate, names, *more).items():
                print(json.dumps(summary(f"race, {of}{rate} Mbit/s", name, results)), flush=True)

    def daso(self, rates=RATES, races=RACES, names=("ddp", "data_parallel", "daso", "daso_bfloat16", "daso_int8", "daso_int4", "daso_pairs", "daso_delta_int8", "daso_published", "daso_automatic")):
        self.make_data()
        try:
            for rate in LINKS:
                print(json.dumps(self.link(rate)), flush=True)
            for rate in rates:
                table = self.steps_in_lab(rate)
                print(json.dumps({"workload": "lab.daso", "variant": f"step, {rate} Mbit/s", **table}), flush=True)
            self.races(races, names)
            self.races([UNLIMITED], ["daso_automatic"])
            self.races(ALONE, ("daso", "daso_int8", "daso_automatic"))
            self.races(RATES, ("daso_int8", "daso_automatic"), "cnn, ", CNN)
            self.reach()
        except contest.Failed as reason:
            print(json.dumps({"workload": "lab.daso", "missing": str(reason)}))
            return False
        return True


    # The effect of merging on updates.

    def merge(self, nodes_each=(2, 4, 8), epochs=6, pictures=os.path.join(HERE, "..", "docs")):
        """Measures the merge rules on nodes of one rank: the share of updates that survives, and what a network learns."""
        self.make_data()
        self.keep(nodes_each, pictures)
        for nodes in nodes_each:
            self.learn(nodes, epochs, pictures)
        return True

    def keep(self, nodes_each, pictures):
        """Measures a quadratic, with a rate at which its curvature matters little."""
        curves = []
        for rule in RULES[:-1]:
            bowl = ["--model", "quadratic", "--momentum", "0", "--learning-rate", "0.001", "--epochs", "4"]
            shares = [self.emulated(nodes, [*bowl, *cycle(4, 1, "--merge", rule)])["kept"] for nodes in nodes_each]
            for nodes, share in zip(nodes_each, shares):
                print(json.dumps({"workload": "daso.merge", "variant": rule, "nodes": nodes, "kept": round(share, 4)}), flush=True)
            curves.append({"label": rule, "x": list(nodes_each), "y": shares})
        self.draw(curves, f"{pictures}/merge_kept.svg", "Share of the updates that merging keeps", "nodes", "share")

    def learn(self, nodes, epochs, pictures):
        curves = []
        for rule in RULES:
            result = self.emulated(nodes, ["--epochs", str(epochs), "--warm-up", "8", *cycle(4, 1, "--merge", rule), *OUTER])
            curves.append({"label": rule, "x": [c[0] for c in result["curve"]], "y": [c[2] for c in result["curve"]]})
            print(json.dumps({"workload": "daso.merge", "variant": rule, "nodes": nodes, "epochs": epochs,
                              "accuracy": round(result["accuracy"], 4)}), flush=True)
        self.draw(curves, f"{pictures}/merge_accuracy_{nodes}.svg", f"Fashion-MNIST on {nodes} nodes", "epoch", "test accuracy")

    # The cost of narrow wires.

    def wire(self, nodes=4, epochs=6):
        """Measures bytes between nodes, and the accuracy after some epochs, for each wire."""
        self.make_data()
        for mode, option, more in (("data_parallel", "--wire", []), ("daso", "--weights-wire", cycle(1, 1, "--warm-up", "29"))):
            whole = exact = None
            for wire in (*WIRES, *FOUR_BITS):
                done = [self.emulated(nodes, ["--seed", str(seed), "--epochs", str(epochs), "--evaluations", "1", *more, option, wire])
                        for seed in PAIRED_SEEDS]
                sent = done[0]["between_nodes"]
                whole = whole or sent
                exact = exact or [one["accuracy"] for one in done]
                apart = [one["accuracy"] - other for one, other in zip(done, exact)]
                print(json.dumps({"workload": "train.wire", "variant": mode, "wire": wire, "nodes": nodes, "epochs": epochs,
                                  "bytes": sent, "share": round(sent / whole, 4),
                                  "accuracy": [round(one["accuracy"], 4) for one in done],
                                  "mean": round(statistics.mean(one["accuracy"] for one in done), 4),
                                  "difference": round(statistics.mean(apart), 5),
                                  "its_error": round(statistics.stdev(apart) / len(apart) ** 0.5, 5)}), flush=True)
        return True

    def emulated(self, nodes, arguments):
        command = ["mpirun", "-n", str(nodes), "-x", f"HEATPP_TOPOLOGY={nodes}x1", "-x", "HEATPP_ALLREDUCE=blueconnect",
                   self.trainer, "race", "--data", self.data, "--batch", str(2048 // nodes), *arguments]
        return self.race(command)

    def draw(self, curves, path, title, x_label, y_label):
        command = [self.trainer, "draw", "--out", path, "--title", title, "--x-label", x_label, "--y-label", y_label]
        subprocess.run(command, env=self.environment, check=True, text=True,
                       input="\n".join(json.dumps(curve) for curve in curves))


def summary(variant, name, results):
    line = {
        "workload": "lab.daso", "variant": variant, "program": name,
        "seconds": [round(result["seconds"], 2) for result in results],
        "mean": round(statistics.mean(result["seconds"] for result in results), 2),
        "accuracy": [round(result["accuracy"], 4) for result in results],
        "steps": [result["steps"] for result in results],
    }
    if "exposed" in results[0]:
        for key in ("exposed", "exposed_least"):
            line[f"{key}_share"] = [round(result[key] / result["seconds"], 4) for result in results]
        line["last"] = results[-1]["daso"]
    return line


WORKLOADS = {"lab.reach": Training.reach, "train.step": Training.step, "train.sharded": Training.sharded, "train.read": Training.read, "train.checkpoint": Training.checkpoint, "lab.daso": Training.daso, "daso.merge": Training.merge, "train.wire": Training.wire}
