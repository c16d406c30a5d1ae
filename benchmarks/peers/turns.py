"""The turns of a peer: the same lines on standard input and output as heatpp_bench."""
import json
import sys
import time

_workloads = {}


def workload(*names):
    """Registers `prepare() -> (run, check)`; `check(run())` gives the check values."""

    def register(prepare):
        _workloads.update(dict.fromkeys(names, prepare))
        return prepare

    return register


class OneProcess:
    """Replaces a communicator if there is one process."""

    first = True

    def barrier(self):
        pass

    def slowest(self, seconds):
        return seconds

    def asked(self):
        return sys.stdin.readline().strip() == "turn"


def _say(ranks, **line):
    if ranks.first:
        print(json.dumps(line), flush=True)


def main(ranks=OneProcess()):
    name = sys.argv[1]
    prepare = _workloads.get(name) or _workloads.get(name.split(".")[0])
    if prepare is None:
        return _say(ranks, missing="has no counterpart")
    run, check = prepare()

    def turn():
        ranks.barrier()
        start = time.perf_counter()
        result = run()
        return ranks.slowest(time.perf_counter() - start), result

    seconds, result = turn()
    _say(ranks, warm_up=seconds, check=[float(v) for v in check(result)])
    while ranks.asked():
        result = None  # frees the previous result outside the time
        seconds, result = turn()
        _say(ranks, seconds=seconds)
