"""Tests that fits to sparse rows equal scikit-learn's fits to scipy's matrices: rows_test.py MPIEXEC ... TEST. Ends with
77, which ctest shows as skipped, if scikit-learn is missing."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
    from sklearn.naive_bayes import BernoulliNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

random = np.random.default_rng(7)
n, features = 300, 80
y = random.integers(0, 4, n)
x = scipy.sparse.random_array((n, features), density=0.05, rng=random, data_sampler=lambda size: random.poisson(3, size) + random.random(size)).tolil()
for row in range(n):
    for column in random.integers(0, 20, 4):
        x[row, 20 * y[row] + column] += 1 + random.random()
x = x.tocsr()
target = np.asarray(x @ random.standard_normal(features)) + random.standard_normal(n)
w = random.integers(1, 4, n).astype(float)
centers = x[:5].toarray()

means = KMeans(5, init=centers, n_init=1, tol=0).fit(x, sample_weight=w)
svd = TruncatedSVD(6, algorithm="arpack", random_state=0).fit(x)
made = {
    "y": y, "w": w, "target": target, "centers": centers,
    "kmeans": means.cluster_centers_, "kmeans_labels": means.labels_.astype(np.int64), "kmeans_distances": means.transform(x),
    # scikit-learn's least squares of sparse rows end early.
    "linear": LinearRegression().fit(x.toarray(), target, sample_weight=w).predict(x),
    "ridge": Ridge(alpha=0.5, solver="sparse_cg", tol=1e-14).fit(x, target, sample_weight=w).coef_,
    "lasso": Lasso(alpha=0.01, tol=1e-12, max_iter=100000).fit(x, target).coef_,
    "logistic": LogisticRegression(tol=1e-9, max_iter=10000).fit(x, y, sample_weight=w).coef_,
    "multinomial": MultinomialNB().fit(x, y, sample_weight=w).predict_log_proba(x),
    "bernoulli": BernoulliNB(binarize=1).fit(x, y, sample_weight=w).predict_log_proba(x),
    "singular": svd.singular_values_, "ratio": svd.explained_variance_ratio_, "components": np.abs(svd.components_),
    "cosine": NearestNeighbors(n_neighbors=5, metric="cosine").fit(x).kneighbors()[0],
    "voted": KNeighborsClassifier(7, metric="cosine").fit(x, y).predict(x),
    "standard": StandardScaler(with_mean=False).fit(x, sample_weight=w).transform(x).toarray(),
    "max_abs": MaxAbsScaler().fit_transform(x).toarray(),
    "normalized": normalize(x, norm="l1").toarray(),
}
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    scipy.sparse.save_npz(folder / "x.npz", scipy.sparse.csr_matrix(x))
    for key, array in made.items():
        np.save(folder / f"{key}.npy", np.ascontiguousarray(array))
    subprocess.run([*sys.argv[1:], "[.sklearn]"], check=True, env={**os.environ, "HEATPP_SPARSE_ROWS": str(folder)})
