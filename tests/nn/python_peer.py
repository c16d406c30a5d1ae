#!/usr/bin/env python3
"""Lets heatpp read and write what the Python package safetensors writes and reads; where they are installed, PyTorch loads
the weights and TensorBoard the events.

usage: python_peer.py <command that runs python_peer> ...
"""

import subprocess
import sys
import tempfile

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

# What state_dict() has of torch.nn.Module with features = Sequential(Conv2d(1, 3, 3), BatchNorm2d(3), ReLU()) and
# classifier = Linear(12, 5).
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
    """The written file is the state_dict of a module, which gives the same outputs."""
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
        subprocess.run([*sys.argv[1:], folder], check=True)
        check(folder, "weights", nets)
        check(folder, "arrays", others)
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
