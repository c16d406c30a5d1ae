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
    parser.add_argument("task", choices=["turns", "race"])
    parser.add_argument("--model", choices=["mlp", "cnn"], default="mlp")
    parser.add_argument("--mode", choices=["none", "ddp"], default="ddp")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--data")
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
    if model == "mlp":
        sizes = [784, 1024, 1024, 10]
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
        self.forward = nn.parallel.DistributedDataParallel(self.net) if options.mode == "ddp" else self.net
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


def take_turns(options):
    trainer = Trainer(options)
    generator = torch.Generator().manual_seed(dist.get_rank() + 1)
    batch = (torch.randn(options.batch, 1, 28, 28, generator=generator),
             torch.randint(10, (options.batch,), generator=generator))
    say(warm_up=time_steps(trainer, batch, options.steps))
    while True:
        asked = torch.tensor([dist.get_rank() == 0 and sys.stdin.readline().strip() == "turn"], dtype=torch.uint8)
        dist.broadcast(asked, 0)
        if not asked.item():
            return
        say(seconds=time_steps(trainer, batch, options.steps))


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
    take_turns(options) if options.task == "turns" else race(options)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
