"""Tests that scripts/to_sklearn makes scikit-learn's estimators of our files that give our results: to_sklearn_test.py
SCRIPT MPIEXEC ... TEST. Ends with 77, which ctest shows as skipped, if scikit-learn is missing."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import sklearn  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

script, *command = sys.argv[1:]
loader = importlib.machinery.SourceFileLoader("to_sklearn", script)
to_sklearn = importlib.util.module_from_spec(importlib.util.spec_from_loader("to_sklearn", loader))
loader.exec_module(to_sklearn)



def folder_of(paths, kind):
    return next(path for path in paths if path.stem == kind)


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([*command, "[.models]"], check=True, env={**os.environ, "HEATPP_MODELS": folder})
    models = sorted(pathlib.Path(folder).glob("*.safetensors"))
    kinds = [path.stem for path in models]
    assert kinds == sorted(to_sklearn.MAKERS), kinds
    for path in models:
        arrays = to_sklearn.arrays_of(path.with_suffix(".made"))
        model = to_sklearn.load(path)
        made = getattr(model, "transform" if hasattr(model, "fit_transform") and not path.stem.endswith(("KMeans", "Analysis")) else "predict")(arrays["rows"])
        np.testing.assert_allclose(made, arrays["made"], rtol=1e-12, atol=1e-12, err_msg=path.stem)
        print(path.stem, "predicts the same")
    # Models fitted batch by batch continue in scikit-learn.
    rows = to_sklearn.arrays_of(folder_of(models, "IncrementalPCA").with_suffix(".made"))["rows"]
    model = to_sklearn.load(folder_of(models, "IncrementalPCA")).partial_fit(rows)
    assert model.n_samples_seen_ == 2 * len(rows)
