"""Measures what functions of arrays send on a simulated machine of 192 ranks, beside the least time that its links and latencies allow."""
import math
import os
import shutil

from communication import AS_WRITTEN, LINKS, MACHINE, Simulation, show

# What functions send on 192 ranks for an array of 1 GB of float32, a step a line, as their sources say: KIND:BYTES (scale/arrays.hpp).
# Even data of 32 bits take at most 31 bytes for each of 191 splitters, here in six sums (ops/sorting/detail/splitters.hpp).
ARRAY, RANKS = 10**9, math.prod(MACHINE)
SPLITTERS = [f"allreduce:{(RANKS - 1) * 8}"] * 6
ARRAYS = {"sum": ["allreduce:4"], "mask": ["allgather"], "place in the whole": ["place"],
          "unique": ["allgather", *SPLITTERS, "alltoall", f"exchange:{ARRAY}", "allgather"],
          "sort": [*SPLITTERS, f"exscan:{(RANKS - 1) * 8}", "alltoall", f"exchange:{ARRAY}"],
          "resplit": [f"exchange:{ARRAY}"], "resplit of 1 MB": [f"exchange:{10**6}"]}


# A rank has at most this many bytes if they go in two hops (comm/detail/shared/two_hops.cpp): a third of 4 KiB for each message saved.
NODES = RANKS // MACHINE[-1]
TWO_HOPS_BELOW = 4096 * (RANKS - NODES - 2 * (MACHINE[-1] - 1)) // 3


def bound(steps):
    """Returns the least seconds: for each step the bytes of the most loaded link / its bandwidth, and latencies of its rounds. One
    round sends each rank a message of its own, or three do in two hops; to reach all ranks takes log2 of its extent on each level."""
    racks, nodes, gpus = MACHINE
    below = (1, gpus, gpus * nodes)  # ranks behind a link of each level
    latencies = [2e-6 * sum(delay for _, delay in LINKS[:level + 1]) for level in range(len(LINKS))]
    to_all = sum(math.ceil(math.log2(extent)) * latency for extent, latency in zip((gpus, nodes, racks), latencies))
    links = [(behind, bandwidth * 1e9) for behind, (bandwidth, _) in zip(below, LINKS)]
    seconds = 0
    for kind, _, size in (step.partition(":") for step in steps):
        size = int(size or 8)
        if kind in ("exchange", "alltoall"):
            part = size / RANKS**2 if kind == "exchange" else 8
            seconds += latencies[-1] + max(behind * (RANKS - behind) * part / bandwidth for behind, bandwidth in links)
            if RANKS * part <= TWO_HOPS_BELOW:  # sizes of blocks and the first hop are rounds inside the node
                seconds += 2 * latencies[0]
        elif kind in ("allreduce", "topology"):
            shares = [1 - behind / RANKS for behind, _ in links]
            seconds += to_all + max(2 * share * size / bandwidth for share, (_, bandwidth) in zip(shares, links))
        else:  # every rank gets a number of each other one, or a result of that size
            seconds += to_all + (8 * (RANKS - 1) if kind == "allgather" else size) / min(bandwidth for _, bandwidth in links)
    return seconds


# The transform of an array of 512^3 complex64 along all axes: slabs take two exchanges between all ranks, on half of the machine, and
# pencils on 16 x 12 ranks one along each axis of that grid.
TRANSFORMED = 512**3 * 8
TRANSFORMS = {"slabs": ((3, 8, 4), [f"exchange:{TRANSFORMED}"] * 2),
              "pencils": (MACHINE, [f"exchange:{TRANSFORMED}:16x12:{axis}" for axis in (1, 0)])}
# Assumed: each of three passes reads and writes the array once at the bandwidth of an A100 80GB's memory (NVIDIA's data sheet, SXM).
MEMORY = 2039e9


def computing(ranks):
    return 3 * 2 * TRANSFORMED / ranks / MEMORY


def transforms(simulation):
    """Replays the exchanges of each way, and adds the assumed time of computing. Returns whether all were simulated."""
    complete = True
    for name, (machine, steps) in TRANSFORMS.items():
        ranks = math.prod(machine)
        simulation.environment["HEATPP_TOPOLOGY"] = "x".join(map(str, machine))
        lines, reason = simulation.run(machine, AS_WRITTEN, "--steps", ",".join(steps))
        complete = complete and bool(lines)
        computed = computing(ranks)
        times = {"messages": lines[0]["seconds"], "seconds": lines[0]["seconds"] + computed} if lines else {"missing": reason}
        show(workload="fft of 512^3", cut=name, ranks=ranks, assumed_computing=computed, **times)
    return complete


def beside(seconds, least):
    return {"seconds": float(f"{seconds:.6g}"), "bound": float(f"{least:.6g}"), "ratio": round(seconds / least, 2), "within": seconds <= 1.3 * least}


def run(build, environment, limit):
    """Replays each step alone on 192 ranks, and adds those of each function. A row is within its bound if it takes at most 1.3 times
    as long."""
    if not shutil.which("smpicxx") or not shutil.which("smpirun"):
        show(workload="scale.arrays", missing="SimGrid is not installed (Debian: libsimgrid-dev)")
        return True
    simulation = Simulation(os.path.join(build, "scale"), environment, max(limit, 7200))
    simulation.environment["HEATPP_TOPOLOGY"] = "x".join(map(str, MACHINE))  # arrays know the machine
    seconds = {}
    for step in dict.fromkeys(step for steps in ARRAYS.values() for step in steps):
        lines, reason = simulation.run(MACHINE, AS_WRITTEN, "--steps", step)
        if lines:
            seconds[step] = lines[0]["seconds"]
        show(workload="step", step=step, ranks=RANKS, **(beside(seconds[step], bound([step])) if lines else {"missing": reason}))
    for function, steps in ARRAYS.items():
        if all(step in seconds for step in steps):
            show(workload="array", function=function, ranks=RANKS, **beside(sum(seconds[step] for step in steps), bound(steps)))
    complete = transforms(simulation)
    return complete and len(seconds) == len({step for steps in ARRAYS.values() for step in steps})
