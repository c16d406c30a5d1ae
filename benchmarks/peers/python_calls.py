"""Small calls of heatpp or HeAT from Python, a thousand a turn: mpirun -n 2 python python_calls.py NAME heatpp"""
import importlib
import sys

import numpy as np
from ranks import Ranks
from turns import main, workload

ht = importlib.import_module(sys.argv[2])


def calls(name, call, check):
    """Registers a thousand calls on 1000 numbers that are split. All elements of the last result are checked."""

    @workload(name)
    def prepare():
        x = ht.array(np.arange(1000, dtype=np.float32), split=0)

        def thousand():
            for _ in range(1000):
                result = call(x)
            return result

        return thousand, lambda result: check(result.numpy())


calls("python_add", lambda x: x + 1, lambda all_of_it: [all_of_it.sum(), all_of_it[0], all_of_it[-1]])
calls("python_sum", lambda x: x.sum(), lambda total: [total])
calls("python_slice", lambda x: x[10:20], lambda ten: ten)

if __name__ == "__main__":
    main(Ranks())
