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


@workload("gmm")
def _gmm():
    import warnings

    import numpy as np
    from sklearn.mixture import GaussianMixture

    warnings.simplefilter("ignore")  # the given number of iterations is too small for it
    x = data.blobs(0, 1_000_000, 16, 12, 81)
    model = GaussianMixture(8, weights_init=np.full(8, 0.125), means_init=x[:8].copy(), precisions_init=np.tile(np.eye(16), (8, 1, 1)),
                            max_iter=20, tol=0)
    return lambda: model.fit(x).means_, data.check_sums


@workload("cdist")
def _cdist():
    from scipy.spatial.distance import cdist

    x = data.rows("normal", 61, 0, 10_000, 18)
    return lambda: cdist(x, x), data.check_sums


@workload("cdist_qe")
def _cdist_expanded():
    from sklearn.metrics import euclidean_distances

    x = data.rows("normal", 61, 0, 10_000, 18)
    return lambda: euclidean_distances(x, x), data.check_sums


@workload("knn")
def _knn():
    import numpy as np
    from sklearn.neighbors import NearestNeighbors

    x, asking = data.rows("normal", 62, 0, 50_000, 16), data.rows("normal", 63, 0, 2_000, 16)
    return (
        lambda: NearestNeighbors(n_neighbors=5, algorithm="brute", n_jobs=2).fit(x).kneighbors(asking),
        lambda found: np.concatenate([data.check_sums(found[0]), data.check_sums(found[1])]),
    )


@workload("dbscan")
def _dbscan():
    from sklearn.cluster import DBSCAN

    x = data.blobs(0, 200_000, 3, 50, 71)
    return lambda: DBSCAN(eps=0.1, min_samples=10, n_jobs=2).fit(x).labels_, data.check_sums


def _lasso(sweeps):
    import numpy as np
    from sklearn.linear_model import Lasso

    x, y = data.lasso_rows(0, 1_000_000)
    x = np.asfortranarray(x)  # the order in which coordinate descent reads it
    return lambda: Lasso(0.1, max_iter=sweeps, tol=0).fit(x, y), lambda model: data.check_sums(model.coef_)


workload("lasso1")(lambda: _lasso(1))
workload("lasso10")(lambda: _lasso(10))


@workload("logistic")
def _logistic():
    from sklearn.linear_model import LogisticRegression

    x, y = data.logistic_rows(0, 1_000_000)
    return lambda: LogisticRegression().fit(x, y).coef_.ravel(), data.check_sums


@workload("pca")
def _pca():
    from sklearn.decomposition import PCA

    x = data.falling_rows(0, 100_000)
    return lambda: PCA(10).fit(x).singular_values_, data.check_values


@workload("hsvd")
def _hsvd():
    from sklearn.utils.extmath import randomized_svd

    x = data.falling_rows(0, 100_000)
    return lambda: randomized_svd(x, 10, random_state=0)[1], data.check_values


@workload("nmf")
def _nmf():
    import warnings

    import numpy as np
    from sklearn.decomposition import NMF

    warnings.simplefilter("ignore")  # the given number of iterations is too small for it
    x = data.rows("uniform", 94, 0, 100_000, 64)
    model = NMF(8, init="nndsvda", tol=0, max_iter=20, random_state=0)
    return lambda: model.fit(x), lambda model: [model.reconstruction_err_]


@workload("boosting")
def _boosting():
    from sklearn.ensemble import HistGradientBoostingClassifier

    x, y = data.event_rows(0, 1_000_000)
    return (
        lambda: HistGradientBoostingClassifier(early_stopping=False).fit(x, y),
        lambda model: data.judged(y, model.predict_proba(x)[:, 1]),
    )


@workload("forest")
def _forest():
    from sklearn.ensemble import RandomForestClassifier

    x, y = data.event_rows(0, 1_000_000)
    return (
        lambda: RandomForestClassifier(16, max_depth=10, n_jobs=2).fit(x, y),
        lambda model: data.judged(y, model.predict_proba(x)[:, 1]),
    )
