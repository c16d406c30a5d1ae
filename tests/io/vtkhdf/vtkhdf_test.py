"""Checks that VTK's own reader finds the saved data in our files: vtkhdf_test.py MPIEXEC FLAG RANKS TEST, with VTK from PyPI."""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

X = np.arange(24.0).reshape(2, 3, 4)
V = np.stack([X, -X, 2 * X], -1)
SPACING, ORIGIN = (0.125, 0.25, 0.5), (1.0, 2.0, 3.0)  # along x, y and z


class Errors:
    """Collects VTK's errors, which it does not raise."""

    def __init__(self):
        self.window = vtk.vtkStringOutputWindow()
        vtk.vtkOutputWindow.SetInstance(self.window)

    def check(self, path):
        assert not self.window.GetOutput(), f"{path}: {self.window.GetOutput()}"


def steps_of(path):
    """Returns the times of a file and the data set of each, or one data set if there are no times."""
    errors = Errors()
    reader = vtk.vtkHDFReader()
    assert reader.CanReadFile(str(path)), path
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    key, information = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS(), reader.GetOutputInformation(0)
    times = [information.Get(key, i) for i in range(information.Length(key))] if information.Has(key) else [None]
    found = []
    for time in times:
        if time is None:
            reader.Update()
        else:
            reader.UpdateTimeStep(time)
        data = reader.GetOutputDataObject(0)
        found.append(data.NewInstance())
        found[-1].DeepCopy(data)
    errors.check(path)
    return times, found


def arrays_of(data):
    points = data.GetPointData()
    return {points.GetArrayName(i): vtk_to_numpy(points.GetArray(i)) for i in range(points.GetNumberOfArrays())}


def check_grid(image, shape, spacing, origin, **expected):
    assert image.IsA("vtkImageData") and image.GetDimensions() == tuple(reversed(shape)), image.GetDimensions()
    assert image.GetSpacing() == spacing and image.GetOrigin() == origin, (image.GetSpacing(), image.GetOrigin())
    arrays = arrays_of(image)
    assert set(arrays) == set(expected), set(arrays)
    for name, values in expected.items():
        found = arrays[name]
        assert found.dtype == values.dtype, (name, found.dtype)
        assert np.array_equal(found, values.reshape(found.shape)) and len(found) == np.prod(shape), name


def check_cloud(data, n, number, velocity=True):
    points = np.arange(3.0 * n).reshape(n, 3) + 1000 * number
    arrays = arrays_of(data)
    assert data.IsA("vtkPolyData") and data.GetNumberOfPoints() == data.GetNumberOfVerts() == data.GetNumberOfCells() == n
    assert np.array_equal(vtk_to_numpy(data.GetPoints().GetData()), points)
    assert all(data.GetCell(i).GetPointId(0) == i for i in range(n))
    assert np.array_equal(arrays["mass" if velocity else "data"], np.arange(n, dtype="f4") - number), arrays
    if velocity:
        assert np.array_equal(arrays["velocity"], np.arange(2.0 * n).reshape(n, 2) * number)


with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root)
    subprocess.run([*sys.argv[1:], "[.vtk]"], env=os.environ | {"HEATPP_VTKHDF_FILES": root}, check=True)

    times, (grid,) = steps_of(folder / "grid.vtkhdf")
    check_grid(grid, (2, 3, 4), SPACING, ORIGIN, x=X, v=V.astype("f4"), small=X.astype("i2"))
    assert times == [None]
    times, (plane,) = steps_of(folder / "plane.vtkhdf")
    check_grid(plane, (1, 3, 4), (0.25, 0.5, 1.0), (0, 0, 0), x=X[0], v=V[0].astype("f4"))
    times, (line,) = steps_of(folder / "line.vtkhdf")
    check_grid(line, (1, 1, 4), (1, 1, 1), (0, 0, 0), data=X[0, 0])

    times, (one,) = steps_of(folder / "one_step.vtkhdf")
    check_grid(one, (2, 3, 4), SPACING, ORIGIN, data=X)
    times, grids = steps_of(folder / "steps.vtkhdf")
    assert times == [1, 1.5, 2], times
    for step, grid in enumerate(grids):
        check_grid(grid, (2, 3, 4), SPACING, ORIGIN, x=X + 100 * step, v=(V - step).astype("f4"))
    times, planes = steps_of(folder / "plane_steps.vtkhdf")
    assert times == [0, 1, 2], times
    for step, plane in enumerate(planes):
        check_grid(plane, (1, 3, 4), (1, 1, 1), (0, 0, 0), data=X[0] + step)

    check_cloud(steps_of(folder / "cloud.vtkhdf")[1][0], 5, 0, velocity=False)
    times, clouds = steps_of(folder / "cloud_steps.vtkhdf")
    assert times == [1, 1.5, 2], times
    for step, cloud in enumerate(clouds):
        check_cloud(cloud, 3 if step == 1 else 5 + step, step)
print(f"VTK {vtk.vtkVersion.GetVTKVersion()} reads grids and clouds, with and without time steps")
