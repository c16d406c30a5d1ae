"""Tests how the program heatpp describes networks that PyTorch has exported."""

import pathlib

from tool import check, main, run, run_json, write_shards


def test_network(folder):
    try:
        import filelock  # noqa: F401
        import networkx  # noqa: F401
        import torch
    except ImportError:
        return
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 2))
    rows = torch.export.Dim("rows", min=3, max=99)
    torch.export.save(torch.export.export(net, (torch.zeros(5, 4),), dynamic_shapes=({0: rows},)), folder / "net.pt2")
    said = run_json("describe", folder / "net.pt2")
    check([entry["name"] for entry in said["parameters"]] == ["0.weight", "0.bias", "1.weight", "1.bias", "2.weight", "2.bias"], "describe lists parameters")
    check(said["numbers"] == sum(parameter.numel() for parameter in net.parameters()), "describe counts what is in parameters")
    check({"name": "torch.ops.aten.linear.default", "calls": 2, "known": True} in said["operators"], "describe counts operators")
    symbol = said["inputs"][0]["shape"].strip("()").split(",")[0]
    check(said["inputs"] == [{"name": "input", "dtype": "float32", "shape": f"({symbol}, 4)"}], f"describe lists inputs: {said['inputs']}")
    check(said["outputs"][0]["shape"] == f"({symbol}, 2)" and said["sizes"] == [f"{symbol} from 3 to 99"], "describe lists outputs and open sizes")
    text = run("describe", folder / "net.pt2")
    check("parameters, 74 numbers" in text and "1.running_mean" in text, f"describe tells a network in words: {text}")
    cut = (folder / "net.pt2").read_bytes()[:-100]
    (folder / "cut.pt2").write_bytes(cut)
    check("cut.pt2" in run("describe", folder / "cut.pt2", code=1), "describe names a network that is damaged")
    check("gone.pt2" in run("describe", folder / "gone.pt2", code=1), "describe names a network that does not exist")
    check("got --bins for a network" in run("describe", folder / "net.pt2", "--bins", 3, code=1), "describe draws no network")
    (folder / "net.bin").write_bytes((folder / "net.pt2").read_bytes())
    check(run_json("describe", folder / "net.bin")["numbers"] == said["numbers"], "describe knows a network by its content")
    check_several_networks(folder, torch)


def check_several_networks(folder, torch):
    class Even(torch.nn.Module):
        def forward(self, x):
            return x.reshape(x.shape[0], -1, 2).sum(-1), 2 * x.shape[0]

    write_shards(folder)
    half = torch.export.Dim("half", min=3, max=99)
    torch.export.save(torch.export.export(Even(), (torch.zeros(5, 8),), dynamic_shapes=({1: 2 * half},)), folder / "even.pt2")
    files = run_json("describe", folder / "net.pt2", folder / "even.pt2")["files"]
    check([pathlib.Path(entry["file"]).name for entry in files] == ["net.pt2", "even.pt2"], "describe lists several networks")
    shape = files[1]["inputs"][0]["shape"]
    check(shape.startswith("(5, 2*s") and "(" not in shape[1:] and f"{shape[4:-1]} from 6 to 198" in files[1]["sizes"], f"describe writes sizes as Python does: {files[1]}")
    check(files[1]["outputs"][1] == {"name": "1", "dtype": "int64", "shape": "()"}, f"describe lists numbers: {files[1]['outputs']}")
    text = run("describe", folder / "net.pt2", folder / "even.pt2", folder / "part-0.h5")
    check("1.running_mean" in text and shape in text and "run/x" in text, f"describe tells several networks in words: {text}")


main(test_network)
