"""Reads shuffled batches of images from sharded HDF5 files by h5py: alone, or in PyTorch's DataLoader. Makes the files, too."""
import argparse
import glob
import json
import sys
import time

import h5py
import numpy
import torch

SHARDS, ROWS, EXTENT = 4, 2048, (3, 96, 96)


def make(prefix):
    """Returns smooth images, which gzip halves; each is one chunk if they are compressed."""
    for shard in range(SHARDS):
        random = numpy.random.default_rng(shard)
        coarse = random.integers(0, 16, (ROWS, 3, 12, 12), dtype=numpy.uint8)
        images = coarse.repeat(8, 2).repeat(8, 3) * 15 + random.integers(0, 8, (ROWS, *EXTENT), dtype=numpy.uint8)
        for kind, options in (("plain", {}), ("gzip", {"chunks": (1, *EXTENT), "compression": "gzip", "compression_opts": 1})):
            with h5py.File(f"{prefix}-{kind}-{shard:02}.h5", "w") as file:
                file.create_dataset("images", data=images, **options)
                file.create_dataset("labels", data=random.integers(0, 1000, ROWS))


class Images(torch.utils.data.Dataset):
    """Workers are processes of their own, so files are opened where they are read."""

    def __init__(self, pattern):
        self.paths, self.files = sorted(glob.glob(pattern)), None
        self.rows = [h5py.File(path)["labels"].shape[0] for path in self.paths]

    def __len__(self):
        return sum(self.rows)

    def __getitems__(self, rows):
        """Returns the rows of a batch in the order of the files, which h5py reads fastest; labels are read once."""
        if self.files is None:
            files = [h5py.File(path) for path in self.paths]
            self.labels = numpy.concatenate([file["labels"][:] for file in files])
            self.places = [(file["images"], row) for file, count in zip(files, self.rows) for row in range(count)]
            self.files = files
        rows = sorted(rows)
        images = numpy.empty((len(rows), *EXTENT), numpy.uint8)
        for out, row in enumerate(rows):
            array, place = self.places[row]
            array.read_direct(images[out : out + 1], numpy.s_[place : place + 1])
        return (torch.from_numpy(images).float() - 127.5) / 127.5, torch.from_numpy(self.labels[rows])


def batches(options, images, epoch):
    generator = torch.Generator().manual_seed(epoch)
    if options.workers < 0:
        for rows in torch.randperm(len(images), generator=generator).split(options.batch):
            yield images.__getitems__(rows.tolist())
        return
    yield from torch.utils.data.DataLoader(images, options.batch, shuffle=True, num_workers=options.workers,
                                           generator=generator, collate_fn=lambda batch: batch)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", help="a pattern; with --make what the names begin with")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--workers", type=int, default=-1, help="processes of the DataLoader; -1: a plain loop")
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    if options.make:
        return make(options.files)
    torch.set_num_threads(1)
    images = Images(options.files)
    for epoch, what in enumerate(["warm_up"] + ["seconds"] * 1000):
        if epoch and sys.stdin.readline().strip() != "turn":
            return
        start = time.perf_counter()
        total = sum(int(labels.sum()) for _, labels in batches(options, images, epoch))
        print(json.dumps({what: time.perf_counter() - start, "rows": len(images), "sum": total}), flush=True)


if __name__ == "__main__":
    main()
