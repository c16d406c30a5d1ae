"""The ranks of MPI, who take turns with programs beside them."""
import sys
import time

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD


class Ranks:
    first = world.rank == 0

    def barrier(self):
        world.Barrier()

    def slowest(self, seconds):
        return world.allreduce(seconds, op=MPI.MAX)

    def asked(self):
        """The ranks that wait for the driver's word sleep, since it is someone else's turn."""
        word = np.zeros(1, np.int32)
        if self.first:
            word[0] = sys.stdin.readline().strip() == "turn"
        request = world.Ibcast(word)
        while not request.Test():
            time.sleep(0.001)
        return bool(word[0])
