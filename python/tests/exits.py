"""One rank exits with a status while the others wait: all have to end. An exception that is caught ends nothing."""

import sys

import heatpp as ht

try:
    sys.exit(4)
except SystemExit as exit:
    print("caught", exit.code)
if ht.world().rank == 1:
    sys.exit("out of food")
ht.world().barrier()
print("not reached")
