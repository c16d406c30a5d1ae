"""The protocol of distributed arrays, through which libraries show each other their blocks."""

from .. import _heatpp as C
from ._arrays import DNDarray, _from_block, _numbers
from ._ranks import sanitize_comm


def partitioned(self):
    """Returns the blocks in the protocol of distributed arrays; all users share this array's memory."""
    if self.__partitions_dict__ is None:
        self._set(_from_block(self.larray, self.split, self.comm))  # writes then go to this memory
        size = self.comm.size if self.is_distributed() else 1
        places = [tuple(rank if axis == self.split else 0 for axis in range(self.ndim)) for rank in range(size)]
        starts, shapes = ([(0,) * self.ndim], [self.shape]) if size == 1 else (
            [tuple(offset if axis == self.split else 0 for axis in range(self.ndim)) for offset in self.counts_displs()[1]],
            [tuple(each) for each in self.lshape_map.tolist()])
        mine = self.comm.rank if size > 1 else 0
        self.__partitions_dict__ = {
            "shape": self.shape, "partition_tiling": tuple(size if axis == self.split else 1 for axis in range(self.ndim)), "locals": [places[mine]],
            "get": lambda data: data,
            "partitions": {place: {"start": start, "shape": shape, "data": self.larray if rank == mine else None, "location": [rank], "dtype": self.larray.dtype}
                           for rank, (place, start, shape) in enumerate(zip(places, starts, shapes))}}
    return self.__partitions_dict__


def from_partitioned(x, comm=None):
    """Returns an array that shares the memory of another one's __partitioned__."""
    return from_partition_dict(x.__partitioned__, comm)


def from_partition_dict(parted, comm=None):
    """Returns an array that shares the blocks that __partitioned__ describes. Collective."""
    missing = {"shape", "partition_tiling", "partitions", "locals"} - set(parted)
    if missing or len(parted["locals"]) != 1:
        raise RuntimeError(f"[from_partition_dict] got {'no ' + ', '.join(sorted(missing)) if missing else 'several blocks of a rank'}; expected one block of each rank")
    cut = [axis for axis, blocks in enumerate(parted["partition_tiling"]) if blocks > 1]
    if len(cut) > 1:
        raise RuntimeError(f"[from_partition_dict] got a tiling {parted['partition_tiling']}; expected one axis that is cut")
    data = parted.get("get", lambda each: each)(parted["partitions"][parted["locals"][0]]["data"])
    return DNDarray(C.from_local(_numbers(data), split=cut[0] if cut else None, comm=sanitize_comm(comm).ours))


DNDarray.__partitioned__ = property(partitioned)
