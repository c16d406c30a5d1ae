"""Times arrays on a GPU, and training there, beside PyTorch and, if it is installed, CuPy: python benchmarks/gpu.py

Needs the Python module, torch and torchvision. Prints medians of turns, in milliseconds. --device cpu runs it on the CPU, for a trial."""
import argparse
import importlib.util
import statistics
import time

import torch

import heatpp as ht

PARSER = argparse.ArgumentParser(description=__doc__)
PARSER.add_argument("--device", default="cuda")
PARSER.add_argument("--elements", type=int, default=100_000_000)
PARSER.add_argument("--repeat", type=int, default=5)
PARSER.add_argument("--only", choices=["arrays", "training"])
OPTIONS = PARSER.parse_args()
ON_GPU = OPTIONS.device != "cpu"
cupy = __import__("cupy") if ON_GPU and importlib.util.find_spec("cupy") else None


def synchronize():
    if ON_GPU:
        torch.cuda.synchronize()


def turns(contestants, repeat):
    """Returns medians of the contestants' times, which take turns."""
    times = {name: [] for name in contestants}
    for name, call in contestants.items():
        call()  # afterwards libraries, memory and plans are ready
    for _ in range(repeat):
        for name, call in contestants.items():
            synchronize()
            start = time.perf_counter()
            call()
            synchronize()
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(each) for name, each in times.items()}


def report(what, found):
    ours = found["heatpp"]
    others = "".join(f"  {name} {found[name]:9.3f} ({found[name] / ours:.2f} x)" for name in found if name != "heatpp")
    print(f"{what:28} heatpp {ours:9.3f}{others}", flush=True)


def arrays(repeat):
    torch.manual_seed(1)
    n = OPTIONS.elements
    t = torch.randn(n, device=OPTIONS.device)
    rows = int((n * 0.64) ** 0.5)
    small, m, few = t[:1000].clone(), t[: rows * rows].view(rows, rows).clone(), t[: n // 6].clone()
    ours = {tensor.data_ptr(): ht.from_dlpack(tensor) for tensor in (t, small, m, few)}
    theirs = {tensor.data_ptr(): cupy.from_dlpack(tensor) for tensor in (t, small, m, few)} if cupy else {}

    def race(what, tensor, call, torch_call=None, cupy_call=None):
        contestants = {"heatpp": lambda: call(ours[tensor.data_ptr()]), "torch": lambda: (torch_call or call)(tensor)}
        if cupy:
            contestants["cupy"] = lambda: (cupy_call or call)(theirs[tensor.data_ptr()])
        report(what, turns(contestants, repeat))

    race("x + 1, 1000", small, lambda x: x + 1)
    race("x + 1, all", t, lambda x: x + 1)
    race("sin(x) * x + 1, all", t, lambda x: ht.sin(x) * x + 1, lambda x: torch.sin(x) * x + 1, lambda x: cupy.sin(x) * x + 1)
    race("sum, all", t, lambda x: ht.sum(x).item(), lambda x: x.sum().item(), lambda x: x.sum().item())
    race("std, all", t, lambda x: ht.std(x).item(), lambda x: x.std(correction=0).item(), lambda x: x.std().item())
    race("mean(axis 0), a matrix", m, lambda x: ht.mean(x, axis=0), lambda x: x.mean(0), lambda x: x.mean(0))
    race("argmax, all", t, lambda x: ht.argmax(x).item(), lambda x: x.argmax().item(), lambda x: x.argmax().item())
    race("cumsum, all", t, lambda x: ht.cumsum(x, 0), lambda x: x.cumsum(0), lambda x: cupy.cumsum(x))
    race("x[x > 0], all", t, lambda x: x[x > 0])
    race("matmul", m, lambda x: ht.matmul(x, x), lambda x: x @ x, lambda x: x @ x)
    race("sort, a sixth", few, lambda x: ht.sort(x), lambda x: x.sort().values, lambda x: cupy.sort(x))
    race("fft, a sixth", few, lambda x: ht.fft.fft(x), lambda x: torch.fft.fft(x), lambda x: cupy.fft.fft(x))


def training(repeat, batch, batches, autocast):
    """Times an epoch of ResNet-50 on images in the host's memory: heatpp's Trainer beside the usual loop of PyTorch."""
    import torchvision

    images = torch.randn(batch * batches, 3, 224, 224)
    labels = torch.randint(0, 1000, (batch * batches,))
    torch.manual_seed(1)
    net = torchvision.models.resnet50(num_classes=1000)

    network = ht.nn.ScriptModule(net, device=OPTIONS.device)
    trainer = ht.nn.Trainer(network, optimizer="sgd", learning_rate=0.01, momentum=0.9, batch_size=batch, epochs=1, progress=False,
                            autocast=autocast)
    data = ht.nn.Dataset(ht.from_dlpack(images, split=0), ht.from_dlpack(labels, split=0))

    net.to(OPTIONS.device).train()
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    dataset = torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(dataset, batch, shuffle=True, pin_memory=ON_GPU)

    def epoch():
        for x, y in loader:
            x, y = x.to(OPTIONS.device, non_blocking=True), y.to(OPTIONS.device, non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(OPTIONS.device, torch.bfloat16, enabled=autocast is not None):
                loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()

    found = turns({"heatpp": lambda: trainer.fit(data), "torch": epoch}, repeat)
    report(f"ResNet-50, batch {batch}, {autocast or 'float32'}", {name: each / batches for name, each in found.items()})


if __name__ == "__main__":
    print(torch.cuda.get_device_name() if ON_GPU else "processor", "torch", torch.__version__, OPTIONS.elements, "elements")
    if OPTIONS.only != "training":
        arrays(OPTIONS.repeat)
    if OPTIONS.only != "arrays":
        training(min(3, OPTIONS.repeat), 64 if ON_GPU else 2, 10 if ON_GPU else 2, None)
        training(min(3, OPTIONS.repeat), 128 if ON_GPU else 2, 10 if ON_GPU else 2, "bfloat16")
