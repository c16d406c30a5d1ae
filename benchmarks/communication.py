"""Times all-reduces beside those of other libraries: in a lab of network namespaces, on this machine, and on simulated machines."""
import concurrent.futures
import functools
import glob
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MIB = 1 << 20


def json_lines(command, environment, limit):
    """Returns the lines that a program prints until it ends, or for `limit` seconds, and its error output."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit)
        output, errors, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        output, errors, code = (late.stdout or b"").decode(), f"took longer than {limit} s", 1
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    reason = "" if code == 0 else ((errors or output).strip().splitlines() or ["failed"])[-1]
    return lines, reason


def show(**line):
    print(json.dumps(line), flush=True)


# Shape, Mbit/s of the links of nodes and racks, placements, and what an all-reduce of one byte needs on the busiest link,
# in bytes over bytes a second.
LABS = [
    ("2x4", "300", ("block", "cyclic"), 1 / (300e6 / 8)),
    ("3+5", "300", ("block",), 1 / (300e6 / 8)),
    ("2x2x2", "300,150", ("block", "cyclic"), 1 / (150e6 / 8)),
]


def lab(program, environment, repeats, limit):
    """Runs every all-reduce at once, on each arrangement of nodes."""
    for shape, rates, placements, seconds_a_byte in LABS:
        for placement in placements:
            for size in (16 * MIB, 32 * MIB):
                command = [os.path.join(HERE, "lab"), "--shape", shape, "--rates", rates, "--placement", placement,
                           "--timeout", str(limit), "--", program,
                           "--bytes", str(size), "--repeat", str(repeats), "--uplink", "eth0",
                           "--algorithms", "heatpp,reproducible,ring,blueconnect,mpi,mpi_out,mpi_han"]
                lines, reason = json_lines(command, environment, limit)
                if not lines:
                    show(shape=shape, placement=placement, bytes=size, missing=reason or "the lab was skipped: it needs the right to make namespaces")
                    continue
                han = next((line["seconds"] for line in lines if line["algorithm"] == "mpi_han"), None)
                for line in lines:
                    wire = size * seconds_a_byte
                    show(shape=shape, rates=rates, placement=placement, **line, wire=round(wire, 4),
                         over_wire=round(line["seconds"] / wire, 3), faster_than_han=han and round(han / line["seconds"], 3))
    return True


def one_machine(program, environment, repeats, limit):
    """Compares heatpp, plain and reproducible, with the better of MPI's blocking all-reduces, in place and not; and counts allocations."""
    lines, reason = json_lines([os.path.join(os.path.dirname(program), "heatpp_schedules")], environment, limit)
    for line in lines if not reason else [{"missing": reason}]:
        show(**line)
    for ranks in (2, 4):
        command = ["mpirun", "-n", str(ranks), program, "--repeat", str(repeats), "--algorithms", "heatpp,reproducible,mpi,mpi_out",
                   "--overlap", str(16 * MIB)]
        lines, reason = json_lines(command, environment, limit)
        if reason:
            show(ranks=ranks, missing=reason)
        seconds = {}
        for line in lines:
            if "overlap_bytes" in line:
                show(**line)
            else:
                seconds.setdefault(line["bytes"], {})[line["algorithm"]] = line["seconds"]
        for size, of in seconds.items():
            best = min(of.get("mpi", 1e9), of.get("mpi_out", 1e9))
            if "heatpp" in of:
                show(ranks=ranks, bytes=size, **of, ratio=round(best / of["heatpp"], 2))
    return True


# GB/s and us of the links of a GPU, of a node and of a rack, from the innermost out.
LINKS = [(40, 0.5), (12.5, 1), (50, 1)]
BUCKET = 9437184
# Racks, nodes and GPUs.
MACHINE = (6, 8, 4)
GROWING = [(1, 2, 4), (1, 4, 4), (1, 8, 4), (2, 8, 4), (3, 8, 4), MACHINE]
# The variants of SimGrid. Its tables of factors by message size come from TCP; "as written" omits them.
SIMGRID = ("default lr rab1 rab2 rab_rdb rdb smp_binomial smp_binomial_pipeline smp_rdb smp_rsag smp_rsag_lr smp_rsag_rab redbcast ompi "
           "ompi_ring_segmented mpich mvapich2 mvapich2_rs mvapich2_two_level impi rab").split()
AS_WRITTEN = ["smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "network/crosstraffic:0"]
# SimGrid's own table of bandwidths gives messages from 5776 to 9375 bytes 1.087 of a link's; here they get all of it.
AT_MOST_THE_LINK = ["smpi/bw-factor:65472:0.940694;15424:0.697866;9376:0.58729;5776:1;3484:0.77493;1426:0.608902;"
                    "732:0.341987;257:0.338112;0:0.812084"]
# SimGrid searches ever longer lists for messages that it sends without waiting for the receiver.
TRAINED = AS_WRITTEN + ["smpi/send-is-detached-thresh:0"]
# Only messages take time; a look for messages does not.
SIMULATION = ["smpi/simulate-computation:no", "smpi/test:1e-9", "smpi/iprobe:1e-9", "smpi/grow-injected-times:no"]


@functools.lru_cache(maxsize=None)
def write_machine(folder, racks, nodes, gpus):
    """Writes SimGrid's description of the machine, and the list of its GPUs, and returns their files."""
    hosts, items, routes = [], ['<router id="core"/>'], []

    def connect(name, kind, level, above):
        bandwidth, latency = LINKS[level]
        items.append(f'<host id="{name}" speed="1Gf"/>' if kind == "host" else f'<router id="{name}"/>')
        routes.append((f'<link id="{name}-up" bandwidth="{bandwidth}GBps" latency="{latency}us" sharing_policy="SPLITDUPLEX"/>',
                       f'<route src="{name}" dst="{above}"><link_ctn id="{name}-up" direction="UP"/></route>'))

    for rack in range(racks):
        connect(f"rack{rack}", "router", 2, "core")
        for node in range(nodes):
            connect(f"node{rack}-{node}", "router", 1, f"rack{rack}")
            for gpu in range(gpus):
                hosts.append(f"gpu{rack}-{node}-{gpu}")
                connect(hosts[-1], "host", 0, f"node{rack}-{node}")
    body = "\n".join(items + [link for link, _ in routes] + [route for _, route in routes])
    platform, hostfile = (os.path.join(folder, f"machine-{racks}x{nodes}x{gpus}.{end}") for end in ("xml", "hosts"))
    with open(platform, "w") as file:
        file.write('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
                   f'<zone id="machine" routing="Floyd">\n{body}\n</zone>\n</platform>\n')
    with open(hostfile, "w") as file:
        file.write("\n".join(hosts) + "\n")
    return platform, hostfile


def scale_sources():
    """Returns heatpp/comm with stand-ins for what is missing, and the benchmark's own memory."""
    comm = os.path.join(ROOT, "heatpp", "comm")
    found = glob.glob(comm + "/**/*.cpp", recursive=True)
    replaced = {path.replace("/no_", "/") for path in found if "/no_" in path} | {comm + "/detail/machine/pages.cpp"}
    without_nccl = comm + "/device/nccl/no_nccl.cpp"
    replaced |= {path for path in found if os.path.dirname(path) == os.path.dirname(without_nccl) and path != without_nccl}
    return [path for path in found if path not in replaced] + glob.glob(os.path.join(HERE, "scale", "*.cpp"))


def build_scale(folder):
    """Compiles the sources by SimGrid's compiler. Objects newer than all headers stay."""
    os.makedirs(folder, exist_ok=True)
    headers = glob.glob(ROOT + "/heatpp/comm/**/*.hpp", recursive=True) + glob.glob(os.path.join(HERE, "scale", "*.hpp"))
    newest = max(os.path.getmtime(path) for path in headers)

    def compile_one(source):
        target = os.path.join(folder, os.path.relpath(source, ROOT).replace("/", "_") + ".o")
        if not os.path.exists(target) or os.path.getmtime(target) < max(newest, os.path.getmtime(source)):
            subprocess.run(["smpicxx", "-std=c++20", "-O2", "-DFMT_HEADER_ONLY", "-I", ROOT, "-c", source, "-o", target], check=True)
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, scale_sources()))
    program = os.path.join(folder, "heatpp_scale")
    subprocess.run(["smpicxx", "-o", program, *objects], check=True)
    return program


class Simulation:
    def __init__(self, folder, environment, limit):
        # Simulated ranks are threads of one process. They time their messages, not their copies.
        self.folder, self.environment, self.limit = folder, {**environment, "HEATPP_SHARED_MEMORY": "off"}, limit
        self.program = build_scale(folder)

    def run(self, shape, configuration, *arguments):
        platform, hosts = write_machine(self.folder, *shape)
        ranks = shape[0] * shape[1] * shape[2]
        command = ["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts, "--log=root.thres:error"]
        command += [f"--cfg={item}" for item in SIMULATION + configuration]
        levels = "x".join(str(extent) for extent in shape if extent > 1)
        return json_lines([*command, self.program, "--shape", levels, *arguments], self.environment, self.limit)


def formula(shape, size):
    """Returns the seconds of BlueConnect without pipelining (Cho et al. 2019): on each level a latency for each other member of
    a group, there and back."""
    seconds, share, below, latency = 0, size, 1, 0
    for level, members in enumerate(reversed(shape)):
        bandwidth, delay = LINKS[level]
        latency += 2 * delay * 1e-6  # up to the switch and down
        # The ranks below share the link, and a rack's link may be wider than those of its nodes.
        slowest = min(LINKS[l][0] * 1e9 / ranks for l, ranks in zip(range(level + 1), (1, shape[2], shape[1] * shape[2])))
        if members > 1:
            seconds += 2 * ((members - 1) * latency + (members - 1) / members * share / slowest)
        share, below = share / members, below * members
    return seconds


def growth(simulation, shape):
    """Compares one bucket in one chunk with the formula, and returns their ratio."""
    lines, reason = simulation.run(shape, AS_WRITTEN, "--algorithms", "blueconnect", "--chunks", str(2 * BUCKET), "--bytes", str(BUCKET))
    if not lines:
        raise RuntimeError(reason)
    expected = formula(shape, BUCKET)
    ratio = round(lines[0]["seconds"] / expected, 3)
    show(workload="growth", shape=shape, ranks=shape[0] * shape[1] * shape[2], seconds=lines[0]["seconds"],
         formula=round(expected, 7), ratio=ratio)
    return ratio


def resnet50(simulation, name, configuration, arguments):
    """Reduces the tensors one after another by one all-reduce. Each size is simulated once."""
    lines, reason = simulation.run(MACHINE, configuration, *arguments, "--resnet50")
    total = round(sum(line["seconds"] * line["times"] for line in lines), 6)
    bucket = next((line["seconds"] for line in lines if line["bytes"] == BUCKET), None)
    show(workload="ResNet-50, 161 tensors", algorithm=name, seconds=None if reason else total, bucket=bucket,
         **({"missing": reason, "until_then": total} if reason else {}))


# The training of ResNet-50: DASO's ranks average gradients in their node, and weights with other nodes every fourth batch.
TRAININGS = {"flat ring": ["ring"], "BlueConnect": ["blueconnect"], "ZeRO-1": ["zero"],
             "DASO, merged a batch later": ["daso"], "DASO, merged two batches later": ["daso", "--wait", "2"]}


def training(simulation, shape, name, *arguments):
    """Returns the seconds of a batch, and the share that messages add to computing."""
    lines, reason = simulation.run(shape, TRAINED, "--train", *TRAININGS[name], *arguments)
    for line in lines or [{"missing": reason}]:
        share = {"share": round(line["exposed"] / line["seconds"], 4)} if "exposed" in line else {}
        show(workload="ResNet-50", shape=shape, training=name, **line, **share)
    return lines[0]["exposed"] if lines else float("inf")


def scale_train(folder, environment, limit):
    """Runs each training method on 8, 16 and 48 nodes of 4 GPUs."""
    if not shutil.which("smpicxx") or not shutil.which("smpirun"):
        show(workload="scale.train", missing="SimGrid is not installed (Debian: libsimgrid-dev)")
        return True
    simulation = Simulation(folder, environment, limit)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [(shape, name) for shape in ((1, 8, 4), (2, 8, 4), MACHINE) for name in TRAININGS]
        exposed = list(pool.map(lambda run: training(simulation, *run), runs))
    return all(seconds < float("inf") for seconds in exposed)


def scale(folder, environment, limit, quick):
    """Prints tables for 6 racks x 8 nodes x 4 GPUs, and growth from 8 to 192 of these."""
    if not shutil.which("smpicxx") or not shutil.which("smpirun"):
        show(workload="scale.allreduce", missing="SimGrid is not installed (Debian: libsimgrid-dev)")
        return True
    simulation = Simulation(folder, environment, limit)
    ours = ["--algorithms", "blueconnect", "--chunks", f"0,{BUCKET // 3 + 64}"]
    for name, configuration in (("as written", AS_WRITTEN), ("SimGrid's tables", []), ("SimGrid's, at most the link", AT_MOST_THE_LINK)):
        for message in (0, 8192):
            for line in simulation.run(MACHINE, configuration, *ours, "--message", str(message), "--bytes", str(BUCKET))[0]:
                show(workload="bucket", network=name, message=message, **line)
    for shape in GROWING:
        growth(simulation, shape)
    contenders = [("heatpp blueconnect", [], ["--algorithms", "blueconnect", "--chunks", "4000000"]),
                  ("heatpp recursive", [], ["--algorithms", "recursive"])]  # its ring takes more than 40 minutes
    contenders += [(f"SimGrid {name}", [f"smpi/allreduce:{name}"], ["--algorithms", "mpi"]) for name in SIMGRID]
    # A simulation does not depend on the load of this machine; one takes a core and about 5 GB.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda contender: resnet50(simulation, *contender), contenders[:2] if quick else contenders))
    return True


def run(name, build, environment, repeats, limit):
    if name == "scale.allreduce":
        return scale(os.path.join(build, "scale"), environment, max(limit, 7200), quick=repeats == 1)
    if name == "scale.train":
        return scale_train(os.path.join(build, "scale"), environment, max(limit, 7200))
    program = os.environ.get("HEATPP_ALLREDUCE_BENCH", os.path.join(build, "release", "benchmarks", "heatpp_allreduce"))
    if not os.path.exists(program):
        show(workload=name, missing=f"{program} is not built (target heatpp_allreduce)")
        return False
    return {"lab.allreduce": lab, "allreduce": one_machine}[name](program, environment, repeats, max(limit, 300))


def check(folder):
    """Checks that the sources still compile for the simulator and take the expected time there."""
    simulation = Simulation(folder, dict(os.environ), 120)
    ring, blueconnect = (training(simulation, (1, 2, 4), name) for name in list(TRAININGS)[:2])
    return abs(growth(simulation, (2, 2, 4)) - 1) <= 0.15 and 0 < blueconnect < ring


if __name__ == "__main__":  # FOLDER
    sys.exit(not check(sys.argv[1]))
