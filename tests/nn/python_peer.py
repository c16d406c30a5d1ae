#!/usr/bin/env python3
"""Lets heatpp read and write the files of the Python package safetensors; if they are installed, PyTorch loads the weights and TensorBoard the
events.

usage: python_peer.py <command that runs python_peer> ...
"""

import subprocess
import sys
import tempfile

try:
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file
except ImportError as missing:
    print(f"{missing}: not run")
    sys.exit(77)

# The names of state_dict() of a torch.nn.Module with features = Sequential(Conv2d(1, 3, 3), BatchNorm2d(3), ReLU()) and classifier = Linear(12, 5).
WEIGHTS = {"features.0.weight": (3, 1, 3, 3), "features.0.bias": (3,), "features.1.weight": (3,), "features.1.bias": (3,),
           "features.1.running_mean": (3,), "features.1.running_var": (3,), "features.1.num_batches_tracked": (),
           "classifier.weight": (5, 12), "classifier.bias": (5,)}


def weights(random):
    whole = np.array(17)
    return {name: whole if name.endswith("tracked") else random.standard_normal(shape).astype(np.float32)
            for name, shape in WEIGHTS.items()}


def arrays(random):
    types = [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.complex64]
    found = {np.dtype(t).name: (random.standard_normal((5, 3)) * 100).astype(np.float64).astype(np.int8).astype(t) for t in types}
    return found | {"scalar": np.array(0.5, np.float32), "empty": np.zeros((0, 4), np.int16), "one.row": np.ones((1, 1, 7))}


def check(folder, name, expected):
    found = load_file(f"{folder}/{name}-back.safetensors")
    assert found.keys() == expected.keys(), (found.keys(), expected.keys())
    for key, value in expected.items():
        assert found[key].dtype == value.dtype and found[key].shape == np.shape(value), (key, found[key])
        assert np.array_equal(found[key], value), (key, found[key], value)


def check_in_torch(folder):
    """The written file is the state_dict of a module, which has the same outputs."""
    import torch
    from safetensors.torch import load_file as load_torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.features = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU())
            self.classifier = torch.nn.Linear(12, 5)

    net = Net()
    net.load_state_dict(load_torch(f"{folder}/weights-back.safetensors"))
    assert {name: tuple(tensor.shape) for name, tensor in net.state_dict().items()} == WEIGHTS


def networks():
    """Returns networks of torchvision, and a U-Net like heatpp's."""
    import torch
    import torchvision

    def level(inputs, outputs):
        convolution = lambda size: torch.nn.Conv2d(size, outputs, 3, padding=1, padding_mode="circular", bias=False)
        module = torch.nn.Module()
        module.conv1, module.bn1 = convolution(inputs), torch.nn.BatchNorm2d(outputs)
        module.conv2, module.bn2 = convolution(outputs), torch.nn.BatchNorm2d(outputs)
        module.forward = lambda x: module.bn2(module.conv2(module.bn1(module.conv1(x)).relu())).relu()
        return module

    class UNet(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = torch.nn.ModuleList([level(2, 4), level(4, 8)])
            self.bottom = level(8, 16)
            self.up = torch.nn.ModuleList([torch.nn.ConvTranspose2d(16, 8, 2, 2), torch.nn.ConvTranspose2d(8, 4, 2, 2)])
            self.decoder = torch.nn.ModuleList([level(16, 8), level(8, 4)])
            self.head = torch.nn.Conv2d(4, 1, 1)

        def forward(self, x):
            first = self.encoder[0].forward(x)
            second = self.encoder[1].forward(torch.nn.functional.max_pool2d(first, 2))
            x = self.bottom.forward(torch.nn.functional.max_pool2d(second, 2))
            x = self.decoder[0].forward(torch.cat([second, self.up[0](x)], 1))
            return self.head(self.decoder[1].forward(torch.cat([first, self.up[1](x)], 1)))

    torch.manual_seed(5)
    return {"resnet18": (torchvision.models.resnet18(num_classes=10), torch.randn(3, 3, 64, 96)),
            "resnet50": (torchvision.models.resnet50(), torch.randn(2, 3, 64, 64)), "unet": (UNet(), torch.randn(3, 2, 8, 16))}


def write_networks(folder):
    from safetensors.torch import save_file as save_torch

    known = networks()
    for name, (net, _) in known.items():
        save_torch(net.state_dict(), f"{folder}/{name}.safetensors")
    save_torch({name: inputs for name, (_, inputs) in known.items()}, f"{folder}/inputs.safetensors")
    return known


def check_networks(folder, known):
    import torch
    from safetensors.torch import load_file as load_torch

    for name, (net, inputs) in known.items():
        found = load_torch(f"{folder}/{name}-outputs.safetensors")
        with torch.no_grad():
            for mode, expected in (("eval", net.eval()(inputs)), ("train", net.train()(inputs))):
                assert expected.shape == found[mode].shape, (name, expected.shape, found[mode].shape)
                assert torch.allclose(expected, found[mode], rtol=1e-4, atol=1e-4), (name, mode, expected, found[mode])


def check_in_tensorboard(folder):
    import io

    from PIL import Image
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(f"{folder}/events")
    events.Reload()
    assert [(e.step, e.value) for e in events.Scalars("loss")] == [(0, 1), (1, 0.5), (2, 0.25)]
    histogram = events.Histograms("weights")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0, 99, 100, 4950)
    assert sum(histogram.bucket) == 100 and histogram.bucket_limit[-1] == 99
    picture = events.Images("picture")[0]
    assert (picture.width, picture.height) == (4, 2)
    pixels = np.array(Image.open(io.BytesIO(picture.encoded_image_string)))
    assert np.array_equal(pixels, np.arange(0, 240, 10).reshape(3, 2, 4).transpose(1, 2, 0))


def main():
    random = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        nets, others = weights(random), arrays(random)
        save_file(nets, f"{folder}/weights.safetensors", {"format": "pt"})
        save_file(others, f"{folder}/arrays.safetensors")
        try:
            known = write_networks(folder)
        except ImportError as error:
            known = {}
            print("networks not compared:", error)
        subprocess.run([*sys.argv[1:], folder], check=True)
        check(folder, "weights", nets)
        check(folder, "arrays", others)
        check_networks(folder, known)
        for name, metadata in (("weights", {"format": "pt"}), ("arrays", {"by": "heatpp"})):
            with safe_open(f"{folder}/{name}-back.safetensors", "np") as file:
                assert file.metadata() == metadata, file.metadata()
        for check_more in (check_in_torch, check_in_tensorboard):
            try:
                check_more(folder)
                print(check_more.__name__, "passed")
            except ImportError as error:
                print(check_more.__name__, "not possible:", error)


if __name__ == "__main__":
    main()
