"""The workloads of scikit-learn's estimators."""
import data
from turns import workload


def _kmeans(rows, columns, points, seed, clusters, iterations):
    from sklearn.cluster import KMeans

    x = data.blobs(0, rows, columns, points, seed)
    model = KMeans(clusters, init=x[:clusters].copy(), n_init=1, max_iter=iterations, tol=0, algorithm="lloyd")
    return lambda: model.fit(x).cluster_centers_, data.check_sums


workload("kmeans")(lambda: _kmeans(1_000_000, 32, 12, 31, 8, 30))
workload("kmeans256")(lambda: _kmeans(200_000, 64, 200, 41, 256, 10))
