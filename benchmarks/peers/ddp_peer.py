"""PyTorch's DistributedDataParallel over gloo, with the tasks and lines of heatpp_trainer; started by mpirun."""
import argparse
import glob
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["turns", "race", "save"])
    parser.add_argument("--model", choices=["mlp", "wide", "cnn"], default="mlp")
    parser.add_argument("--mode", choices=["none", "ddp", "dcp"], default="ddp")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--data")
    parser.add_argument("--out")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=2)
    parser.add_argument("--target", type=float, default=2)
    parser.add_argument("--cap", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learning-rate", type=float, default=0.2)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--master", default="127.0.0.1")
    parser.add_argument("--interface", default="lo")
    parser.add_argument("--port", default="29517")
    return parser.parse_args()


def join(options):
    os.environ |= {
        "RANK": os.environ.get("OMPI_COMM_WORLD_RANK", "0"),
        "WORLD_SIZE": os.environ.get("OMPI_COMM_WORLD_SIZE", "1"),
        "MASTER_ADDR": options.master,
        "MASTER_PORT": options.port,
        "GLOO_SOCKET_IFNAME": options.interface,
    }
    dist.init_process_group("gloo")


def say(**line):
    if dist.get_rank() == 0:
        print(json.dumps(line), flush=True)


def make_net(model):
    if model in ("mlp", "wide"):
        width = 1024 if model == "mlp" else 4096
        sizes = [784, width, width, 10]
        layers = [nn.Flatten()]
        for size_in, size_out in zip(sizes, sizes[1:]):
            layers += [nn.Linear(size_in, size_out), nn.ReLU()]
        return nn.Sequential(*layers[:-1])
    convolutions = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(1600, 128), nn.ReLU(), nn.Linear(128, 10))


class Trainer:
    def __init__(self, options):
        torch.manual_seed(options.seed)
        self.net = make_net(options.model)
        self.forward = nn.parallel.DistributedDataParallel(self.net) if options.mode in ("ddp", "dcp") else self.net
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=options.learning_rate, momentum=options.momentum)

    def step(self, images, labels):
        self.sgd.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(self.forward(images), labels)
        loss.backward()
        self.sgd.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self, images, labels):
        right = sum((self.net(x).argmax(1) == y).sum() for x, y in zip(images.split(500), labels.split(500)))
        both = torch.tensor([float(right), float(len(labels))])
        dist.all_reduce(both)
        return (both[0] / both[1]).item()


def time_steps(trainer, batch, steps):
    for _ in range(2):
        trainer.step(*batch)
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(steps):
        trainer.step(*batch)
    seconds = torch.tensor([(time.perf_counter() - begin) / steps])
    dist.all_reduce(seconds, dist.ReduceOp.MAX)
    return seconds.item()


def asked():
    """Returns whether the driver asks for another turn."""
    line = torch.tensor([dist.get_rank() == 0 and sys.stdin.readline().strip() == "turn"], dtype=torch.uint8)
    dist.broadcast(line, 0)
    return bool(line.item())


def take_turns(options):
    trainer = Trainer(options)
    generator = torch.Generator().manual_seed(dist.get_rank() + 1)
    batch = (torch.randn(options.batch, 1, 28, 28, generator=generator),
             torch.randint(10, (options.batch,), generator=generator))
    say(warm_up=time_steps(trainer, batch, options.steps))
    while asked():
        say(seconds=time_steps(trainer, batch, options.steps))


def save_in_turns(options):
    """Saves weights and momentum in each turn: rank 0 by torch.save, or all ranks by torch.distributed.checkpoint (mode dcp); both
    wait for the disk."""
    import torch.distributed.checkpoint as dcp

    trainer = Trainer(options)
    batch = torch.ones(options.batch, 1, 28, 28), torch.zeros(options.batch, dtype=torch.long)
    state = lambda: {"net": trainer.net.state_dict(), "sgd": trainer.sgd.state_dict()}

    def time_save():
        dist.barrier()
        begin = time.perf_counter()
        if options.mode == "dcp":
            dcp.save(state(), checkpoint_id=options.out)
        elif dist.get_rank() == 0:
            with open(options.out, "wb") as file:
                torch.save(state(), file)
                file.flush()
                os.fsync(file.fileno())
        dist.barrier()
        seconds = torch.tensor([time.perf_counter() - begin])
        dist.all_reduce(seconds, dist.ReduceOp.MAX)
        return seconds.item()

    def read_back():
        if options.mode == "dcp":
            read = {"net": {name: torch.empty_like(value) for name, value in trainer.net.state_dict().items()}}
            dcp.load(read, checkpoint_id=options.out)
            return read["net"]
        return torch.load(options.out)["net"]

    trainer.step(*batch)
    first = time_save()
    if not all(torch.equal(value, trainer.net.state_dict()[name]) for name, value in read_back().items()):
        raise ValueError("got other weights from the file; expected those that were saved")
    say(warm_up=first)
    while asked():
        say(seconds=time_save())


def load(folder, part):
    import h5py
    import numpy

    def rows(name):
        return torch.from_numpy(numpy.concatenate(
            [h5py.File(path)[name][...] for path in sorted(glob.glob(f"{folder}/{part}-*.h5"))]))

    return (rows("images").float().div_(255).sub_(0.2860).div_(0.3530).unsqueeze(1), rows("labels").long())


def race(options):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    images, labels = load(options.data, "train")
    test = [tensor.tensor_split(ranks)[rank] for tensor in load(options.data, "test")]
    Trainer(options).step(images[:options.batch], labels[:options.batch])
    trainer = Trainer(options)
    everyone = options.batch * ranks
    steps = len(labels) // everyone
    seconds, done, curve = 0.0, 0, []
    for epoch in range(options.epochs):
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(1000 * options.seed + epoch))
        for k in range(options.evaluations):
            dist.barrier()
            begin = time.perf_counter()
            for step in range(steps * k // options.evaluations, steps * (k + 1) // options.evaluations):
                first = step * everyone + rank * options.batch
                mine = order[first:first + options.batch]
                trainer.step(images[mine], labels[mine])
                done += 1
            dist.barrier()
            passed = torch.tensor([time.perf_counter() - begin], dtype=torch.float64)
            dist.broadcast(passed, 0)
            seconds += passed.item()
            accuracy = trainer.accuracy(*test)
            curve.append([done / steps, seconds, accuracy])
            if accuracy >= options.target or seconds > options.cap:
                return say(seconds=seconds, accuracy=accuracy, steps=done, curve=curve)
    say(seconds=seconds, accuracy=accuracy, steps=done, curve=curve)


def main():
    options = parse()
    join(options)
    {"turns": take_turns, "save": save_in_turns, "race": race}[options.task](options)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
