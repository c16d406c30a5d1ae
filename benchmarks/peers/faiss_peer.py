"""Faiss in one process: python faiss_peer.py NAME"""
import data
from turns import main, workload


@workload("knn")
def _knn():
    import faiss
    import numpy as np

    x, asking = data.rows("normal", 62, 0, 50_000, 16), data.rows("normal", 63, 0, 2_000, 16)

    def run():
        index = faiss.IndexFlatL2(x.shape[1])
        index.add(x)
        squares, rows = index.search(asking, 5)
        return np.sqrt(squares), rows

    return run, lambda found: np.concatenate([data.check_sums(found[0]), data.check_sums(found[1])])


def _kmeans(rows, columns, points, seed, clusters, iterations):
    import faiss

    x = data.blobs(0, rows, columns, points, seed)

    def run():
        model = faiss.Kmeans(columns, clusters, niter=iterations, max_points_per_centroid=rows)
        model.train(x, init_centroids=x[:clusters].copy())
        return model.centroids

    return run, data.check_sums


workload("kmeans")(lambda: _kmeans(1_000_000, 32, 12, 31, 8, 30))
workload("kmeans256")(lambda: _kmeans(200_000, 64, 200, 41, 256, 10))

if __name__ == "__main__":
    main()
