"""One rank fails while the others wait: all have to end, with that rank's traceback."""

import heatpp as ht

if ht.world().rank == 1:
    raise KeyError("lost")
ht.world().barrier()
print("not reached")
