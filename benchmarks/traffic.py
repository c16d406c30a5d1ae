"""What trainings send between nodes."""
import math


def of(results):
    """Returns the bytes between nodes for each image, as the program counts them and as devices do, and the peak rate of a node."""
    each = lambda key: [round(one[key] / one["images"], 2) for one in results]  # noqa: E731
    return {"bytes_per_image": each("sent"), "of_devices": each("left"), "peak_mbit": [round(one["peak"], 1) for one in results]}


def curve_of(nodes, name, result):
    """Returns accuracy by the logarithm of the bytes that a node has sent. Where a program counts none, each step sends the same."""
    points = [(point[3] if len(point) > 3 else result["sent"] * point[0] / result["curve"][-1][0], point[2]) for point in result["curve"]]
    points = [(sent, accuracy) for sent, accuracy in points if sent > 0]
    return {"label": name, "x": [math.log10(sent / nodes) for sent, _ in points], "y": [accuracy for _, accuracy in points]}
