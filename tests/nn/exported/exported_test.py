#!/usr/bin/env python3
"""Tests networks of torch.export in heatpp: outputs, gradients, buffers and steps equal Python's on any number of ranks, and
Python loads what heatpp has trained.

usage: exported_test.py <mpiexec> <-n> <exported_peer> [ranks ...]
"""

import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
    import torch.export
    from safetensors.torch import load_file, save_file
    import filelock, networkx, sympy  # noqa: F401, E401: of torch.export
except ImportError as missing:
    print(f"{missing}: not run")
    sys.exit(77)

from networks import all_networks

SEED, RATE, STEPS = 7, 0.1, 3


def flat(value):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def outputs_of(value):
    """Returns tensors, and numbers as tensors without axes."""
    leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(value) if leaf is not None]
    return [torch.tensor(leaf, dtype=torch.float64) if isinstance(leaf, float) else torch.as_tensor(leaf) for leaf in leaves]


def loss_of(outputs):
    return sum(output.double().square().mean() for output in outputs_of(outputs))


def numbered(prefix, tensors):
    return {f"{prefix}.{i}": tensor.detach().clone().contiguous() for i, tensor in enumerate(tensors)}


def gradients_of(net):
    return {name: parameter.grad for name, parameter in net.named_parameters(remove_duplicate=False)}


def export(path, net, examples, dynamic, options):
    net.train(options.get("train", True))
    program = torch.export.export(net, examples, dynamic_shapes=dynamic, strict=options.get("strict", False))
    torch.export.save(program.run_decompositions() if options.get("decomposed") else program, path)


def expected(net, given, options):
    """Computes in one process a batch in training, one in evaluation, and some steps."""
    found = numbered("input", flat(given))
    net.train()
    torch.manual_seed(SEED)
    outputs = net(*given)
    loss_of(outputs).backward()
    found |= numbered("output", outputs_of(outputs))
    found |= {f"gradient.{name}": tensor.resolve_conj().contiguous().clone() for name, tensor in gradients_of(net).items() if tensor is not None}
    found |= {f"buffer.{name}": tensor.clone().contiguous() for name, tensor in net.named_buffers()}
    net.eval()
    with torch.no_grad():
        found |= numbered("evaluated", outputs_of(net(*given)))
    if options.get("stepped"):
        net.train()
        optimizer = torch.optim.SGD(net.parameters(), RATE)
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss_of(net(*given)).backward()
            optimizer.step()
        found |= {f"stepped.{name}": tensor.detach().resolve_conj().clone() for name, tensor in net.named_parameters()}
    return found


def write(folder):
    networks = {}
    for name, net, examples, dynamic, given, options in all_networks():
        export(folder / f"{name}.pt2", net, examples, dynamic, options)
        save_file(expected(net, given, options), folder / f"{name}.safetensors")
        networks[name] = net, given
    return networks


def check_back(folder, networks):
    """Loads in Python the state and the archive that the ranks have written, and compares the results."""
    for name, (net, given) in networks.items():
        state, program = load_file(folder / f"{name}-state.safetensors"), torch.export.load(folder / f"{name}-trained.pt2")
        assert state.keys() == net.state_dict().keys() == program.state_dict.keys(), (name, state.keys(), program.state_dict.keys())
        for key, value in program.state_dict.items():
            assert torch.equal(value.detach().resolve_conj(), state[key]), (name, key)
        net.load_state_dict(state)
        with torch.no_grad():
            theirs = load_file(folder / f"{name}-outputs.safetensors")
            for i, output in enumerate(outputs_of(net.eval()(*given))):
                assert torch.allclose(output, theirs[f"output.{i}"], rtol=1e-5, atol=1e-6), (name, i)
            program.module()(*given)


def main(launcher, flag, peer, *ranks):
    torch.manual_seed(1)
    warnings.simplefilter("ignore")
    for count in ranks or "1234":
        with tempfile.TemporaryDirectory() as place:
            networks = write(pathlib.Path(place))
            subprocess.run([launcher, flag, str(count), peer, place, *networks], check=True)
            check_back(pathlib.Path(place), networks)
    print("networks of torch.export: equal")


if __name__ == "__main__":
    main(*sys.argv[1:])
