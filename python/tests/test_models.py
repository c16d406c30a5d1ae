"""Estimators, sparse matrices and files."""

import copy
import pathlib
import pickle
import tempfile

import numpy as np
import scipy.sparse
import sklearn.cluster
import sklearn.decomposition
import sklearn.linear_model
import sklearn.model_selection
import sklearn.neighbors
import sklearn.pipeline
import sklearn.preprocessing
from layouts import RANK, Case, every_layout
from mpi4py import MPI

import heatpp as ht

ROWS = np.concatenate([np.random.default_rng(seed).normal(seed * 9, 1, size=(12, 3)) for seed in range(3)])


class Models(Case):
    def test_kmeans(self):
        expected = sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(ROWS)
        for x in every_layout(ROWS):
            found = ht.KMeans(n_clusters=3, seed=1).fit(x)
            self.same(np.sort(found.centers.numpy(), axis=0), np.sort(expected.cluster_centers_, axis=0))
            self.assertAlmostEqual(found.inertia, expected.inertia_, places=6)
            self.same(found.predict(x), found.labels.numpy())

    def test_parameters(self):
        model = ht.KMeans(n_clusters=3)
        self.assertEqual({key: model.get_params()[key] for key in ("n_clusters", "init", "max_iterations")},
                         {"n_clusters": 3, "init": "plus_plus", "max_iterations": 300})
        self.assertEqual(model.set_params(n_clusters=5, init="random").get_params()["init"], "random")
        self.assertEqual(model.get_params()["n_clusters"], 5)
        with self.assertRaisesRegex(ValueError, "got clusters; expected"):
            model.set_params(clusters=3)
        with self.assertRaisesRegex(ValueError, r'\[KMeans\] got init="anywhere"; expected "plus_plus", "parallel", "random", DNDarray'):
            ht.KMeans(init="anywhere")
        with self.assertRaisesRegex(ValueError, r'\[NMF\] got solver="mv"; expected "coordinate_descent", "multiplicative"'):
            ht.NMF(2).set_params(solver="mv")
        with self.assertRaisesRegex(TypeError, r"\[KMeans\] got progress=3; expected a function"):
            ht.KMeans(progress=3)

    def test_models_without_options(self):
        for x in every_layout(ROWS):
            self.same(ht.MaxAbsScaler().fit(x).transform(x), ROWS / np.abs(ROWS).max(axis=0))

    def test_models_of_a_file_have_the_parameters_of_those_saved(self):
        rows, kinds, share = abs(ROWS), np.repeat([0, 1, 2], 12), ROWS[:, 0] - ROWS[:, 0].min()
        models = [ht.PCA(), ht.PCA(2), ht.PCA(0.95), ht.PCA("mle", svd_solver="full", whiten=True, random_state=4), ht.IncrementalPCA(), ht.IncrementalPCA(2, batch_size=20),
                  ht.TruncatedSVD(2, algorithm="randomized", n_iter=3, random_state=7), ht.NMF(), ht.NMF(2, init="random", alpha_H=0.1, random_state=3), ht.KMeans(3, init="random"),
                  ht.KMedians(3, init="k-means||"), ht.KMedoids(3), ht.MiniBatchKMeans(3, init="random"), ht.GaussianMixture(2, init_params="random"), ht.StandardScaler(with_mean=False),
                  ht.MinMaxScaler(feature_range=(-1, 2)), ht.MaxAbsScaler(), ht.RobustScaler(with_centering=False), ht.LinearDiscriminantAnalysis(), ht.LinearDiscriminantAnalysis(n_components=1), ht.LinearRegression(),
                  ht.Ridge(2.0), ht.Lasso(0.1), ht.ElasticNet(0.1), ht.PoissonRegressor(), ht.LogisticRegression(class_weight="balanced"), ht.DecisionTreeClassifier(max_depth=2),
                  ht.RandomForestClassifier(n_estimators=3), ht.RandomForestRegressor(n_estimators=3), ht.HistGradientBoostingRegressor(max_iter=2, early_stopping="auto"),
                  ht.HistGradientBoostingClassifier(max_iter=2, categorical_features=[False, True, False], min_samples_leaf=5)]
        rows[:, 1] = np.arange(36) % 4
        made = tempfile.TemporaryDirectory() if RANK == 0 else None
        path = pathlib.Path(MPI.COMM_WORLD.bcast(made and made.name)) / "model.safetensors"
        for model in models:
            before = {name: value for name, value in model.get_params().items() if name != "progress"}
            kind = model.__sklearn_tags__().estimator_type
            model.fit(ht.array(rows, split=0), *{"classifier": (kinds,), "regressor": (share,)}.get(kind, ()))
            ht.io.save_model(path, model.state)
            found = type(model).from_state(ht.io.load_model(path)).get_params()
            self.assertEqual({name: found[name] for name in before}, before, model)
            self.copies(model, rows)
        MPI.COMM_WORLD.barrier()
        if made:
            made.cleanup()

    def copies(self, model, rows):
        """Checks that what pickle and deepcopy make of a fitted model gives the same results and options."""
        for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            self.assertIs(type(again), type(model))
            self.assertEqual(repr(again.get_params()), repr(model.get_params()))
            for name in ("predict", "transform", "predict_proba"):
                if hasattr(model, name):
                    self.same(getattr(again, name)(ht.array(rows, split=0)), getattr(model, name)(ht.array(rows, split=0)).numpy())

    def test_pickles_keep_options_and_attributes(self):
        model = ht.KMeans(3, init=ht.array(ROWS[:3], split=0))
        model.note = "mine"
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual((again.note, again.get_params()["n_clusters"]), ("mine", 3))
        self.same(again.get_params()["init"], ROWS[:3])
        self.assertEqual(again.get_params()["init"].split, 0)
        x = ht.array(ROWS, split=0)
        self.assertEqual(pickle.loads(pickle.dumps(ht.DBSCAN(eps=2.0))).get_params()["eps"], 2.0)
        with self.assertRaisesRegex(TypeError, r"\[pickle\] got a DBSCAN that is fitted; expected"):
            pickle.dumps(ht.DBSCAN(eps=2.0).fit(x))
        self.assertEqual(copy.deepcopy(ht.DBSCAN(eps=2.0).fit(x)).get_params()["eps"], 2.0)
        self.same(pickle.loads(pickle.dumps(ht.DMD().fit(x))).eigenvalues, ht.DMD().fit(x).eigenvalues.numpy())

    def test_progress_is_told(self):
        seen = []
        ht.KMeans(n_clusters=3, seed=2, progress=lambda state: seen.append(state.done) or True).fit(ht.array(ROWS, split=0))
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        self.assertGreater(len(seen), 0)

    def test_progress_that_says_nothing_goes_on(self):
        seen = []
        model = ht.KMeans(n_clusters=3, seed=2, progress=lambda state: seen.append(state.done)).fit(ht.array(ROWS, split=0))
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        self.assertEqual(len(seen), model.iterations)
        self.assertIs(ht.KMeans(progress=print).get_params()["progress"], print)
        ended = ht.KMeans(n_clusters=3, seed=2, tol=0, progress=lambda state: np.bool_(state.done < 2)).fit(ht.array(ROWS, split=0))
        self.assertLessEqual(ended.iterations, 2)
        with self.assertRaisesRegex(ValueError, "truth value"):
            ht.KMeans(n_clusters=3, seed=2, progress=lambda state: np.ones(2)).fit(ht.array(ROWS, split=0))

    def test_choice_of_a_model(self):
        labels, order = np.repeat([0, 1, 2], 12), np.random.default_rng(4).permutation(36)
        rows, labels = ROWS[order] / 9, labels[order]
        theirs = sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), sklearn.neighbors.KNeighborsClassifier(3))
        expected = sklearn.model_selection.cross_val_score(theirs, rows, labels)
        for x in every_layout(rows):
            for y in every_layout(labels):
                model = ht.Pipeline(ht.StandardScaler(), ht.KNeighborsClassifier(n_neighbors=3))
                self.same(ht.cross_val_score(model, x, y), expected)
            self.same(ht.cross_val_score(model, x, y, cv=ht.KFold(n_splits=3), scoring=lambda model, x, y: ht.accuracy_score(y, model.predict(x))),
                      sklearn.model_selection.cross_val_score(theirs, rows, labels, cv=sklearn.model_selection.KFold(3)))
            search = ht.GridSearch(ht.Pipeline([("scaled", ht.StandardScaler()), ("nearest", ht.KNeighborsClassifier())]), {"nearest__n_neighbors": [1, 3, 20]}).fit(x, y)
            known = sklearn.model_selection.GridSearchCV(theirs, {"kneighborsclassifier__n_neighbors": [1, 3, 20]}).fit(rows, labels)
            self.same(search.best_score, known.best_score_)
            self.assertEqual([*search.best_params.values()], [*known.best_params_.values()])
            self.same(search.predict(x), known.predict(rows))
            self.same([np.mean(scores) for scores in search.scores], known.cv_results_["mean_test_score"])
            self.same(model.fit(x, y).classes, [0, 1, 2])
            self.same(model.predict_proba(x), theirs.fit(rows, labels).predict_proba(rows))
            self.same(ht.KNeighborsRegressor().fit(x, x[:, 0]).score(x, x[:, 0]), sklearn.neighbors.KNeighborsRegressor().fit(rows, rows[:, 0]).score(rows, rows[:, 0]))
        self.assertEqual(len(ht.cross_val_score(ht.KMeans(n_clusters=2, seed=1), x, cv=4)), 4)
        for wrong in (lambda: ht.cross_val_score(model, x, y, cv=[]), lambda: ht.cross_val_score(model, x, y, cv=sklearn.model_selection.KFold(3)), lambda: ht.clone(5), lambda: ht.Pipeline(ht.StandardScaler)):
            with self.assertRaisesRegex(TypeError, "got .*expected"):
                wrong()
        with self.assertRaisesRegex(ValueError, "got scoring='best'; expected"):
            ht.cross_val_score(model, x, y, scoring="best")
        with self.assertRaisesRegex(ValueError, "got n_neighbors=3; expected a list"):
            ht.GridSearch(ht.KNeighborsClassifier(), {"n_neighbors": 3})
        with self.assertRaisesRegex(ValueError, "got rows of shape .* expected as many targets"):
            ht.cross_val_score(model, x, y[:5])
        with self.assertRaisesRegex(ht.NotFittedError, "fit first"):
            ht.GridSearch(model, {}).predict(x)
        with self.assertRaisesRegex(ValueError, "different names"):
            ht.Pipeline(ht.MaxAbsScaler(), ht.MaxAbsScaler())

    def test_folds_of_whole_numbers_to_predict(self):
        numbers, rows = np.arange(36) // 5, np.sort(ROWS, axis=0)
        for x in every_layout(rows):
            for y in (ht.array(numbers, split=0), ht.array(numbers).astype(ht.float64)):
                self.same(ht.cross_val_score(ht.LinearRegression(), x, y), sklearn.model_selection.cross_val_score(sklearn.linear_model.LinearRegression(), rows, numbers), rtol=1e-6)
                self.same(ht.cross_val_score(ht.LinearRegression(), x, y, scoring="neg_mean_squared_error", cv=3),
                          sklearn.model_selection.cross_val_score(sklearn.linear_model.LinearRegression(), rows, numbers, scoring="neg_mean_squared_error", cv=3), rtol=1e-6)

    def test_methods_of_pipelines(self):
        labels, wide = np.arange(36) % 2, ROWS * [1, 10, 100]
        for x in every_layout(wide):
            y = ht.array(labels)
            model = ht.Pipeline(steps=[("scaled", ht.StandardScaler()), ("parts", ht.PCA(n_components=3))]).fit(x)
            self.same(model.inverse_transform(model.transform(x)), wide)
            scaled = ht.StandardScaler().fit(x).transform(x)
            self.same(ht.Pipeline(ht.StandardScaler(), ht.LogisticRegression()).fit(x, y).decision_function(x), ht.LogisticRegression().fit(scaled, y).decision_function(scaled).numpy())
            known, found = ht.GaussianMixture(n_components=2, seed=1).fit(scaled), ht.Pipeline(ht.StandardScaler(), ht.GaussianMixture(n_components=2, seed=1)).fit(x)
            self.same(found.score_samples(x), known.score_samples(scaled).numpy())
            self.assertAlmostEqual(found.bic(x), known.bic(scaled), places=6)
        with self.assertRaises(AttributeError):
            ht.Pipeline(ht.StandardScaler(), ht.GaussianNB()).partial_fit(x, y)
        self.assertEqual((len(model), type(model[0]), model["parts"].get_params()["n_components"]), (2, ht.StandardScaler, 3))
        model.set_params(**model.get_params()).set_params(parts=ht.GaussianNB(), scaled__with_mean=False)
        self.assertEqual((type(model[1]), model[0].get_params()["with_mean"]), (ht.GaussianNB, False))
        search = ht.GridSearch(model, [{"parts": [ht.GaussianNB(), ht.KNeighborsClassifier()]}, {"scaled__with_std": [True, False]}], cv=3)
        self.assertEqual(len(ht.cross_val_score(search, x, y, cv=2)), 2)
        self.same(search.fit(x, y).predict_proba(x), search.best_model.predict_proba(x).numpy())
        self.assertEqual(search.score(x, y), search.best_model.score(x, y))

        class Own:
            def __init__(self, share=1.0):
                self.share = share

            def get_params(self, deep=True):
                return {"share": self.share}

            def fit(self, x, y):
                self.mean = float(y.astype(ht.float64).mean()) * self.share
                return self

            def score(self, x, y):
                return self.mean

        self.same(ht.cross_val_score(Own(2.0), x, y, cv=2), [1, 1])

    def test_pca(self):
        expected = sklearn.decomposition.PCA(2).fit(ROWS)
        for x in every_layout(ROWS):
            self.same(ht.PCA(n_components=2).fit(x).explained_variance, expected.explained_variance_)

    def test_methods_that_may_take_nothing(self):
        expected = sklearn.neighbors.NearestNeighbors(n_neighbors=4).fit(ROWS)
        states = np.array([[0.9, 0.2], [-0.2, 0.9]])
        course = np.stack([np.linalg.matrix_power(states, i) @ [1.0, 2.0] for i in range(9)], axis=1)
        for x in every_layout(ROWS):
            model = ht.NearestNeighbors(n_neighbors=4).fit(x)
            self.same(model.kneighbors(ht.array(ROWS[:5])).indices, expected.kneighbors(ROWS[:5])[1])
            self.same(model.kneighbors().distances, expected.kneighbors()[0])
        for x in every_layout(course):
            model = ht.DMD(rank=2).fit(x)
            self.same(model.reconstruct(), course)
            self.same(model.reconstruct([3.0]), course[:, 3:4])

    def test_sparse(self):
        dense = np.where(np.abs(ROWS) > 9, ROWS, 0)
        for x in every_layout(dense):
            a = ht.sparse.from_dense(x)
            self.assertEqual((a.nnz, a.shape), (np.count_nonzero(dense), dense.shape))
            self.same(ht.sparse.matmul(a, ht.ones(3, dtype="float64")), scipy.sparse.csr_matrix(dense) @ np.ones(3))
            self.same(ht.sparse.to_dense(ht.sparse.transpose(a)), dense.T)

    def test_files(self):
        made = tempfile.TemporaryDirectory() if RANK == 0 else None
        folder = pathlib.Path(MPI.COMM_WORLD.bcast(made.name if made else None))
        for x in every_layout(ROWS):
            for name in ("x.npy", "x.h5", "x.csv"):
                ht.io.save(x, folder / name)
                self.same(ht.io.load(folder / name, split=0), ROWS, rtol=1e-6)
            self.same(np.load(folder / "x.npy"), ROWS)
        said = {"units": "K", "level": 3, "factor": 0.5, "range": [0.5, 2.0], "stations": ["north", "south"]}
        for name in ("x.h5", "x.zarr"):
            ht.io.save(ht.array(ROWS, split=1), folder / name, dimension_names=["time", "x"], attributes=said)
            found = ht.io.contents(folder / name)[0]
            self.assertEqual((found.attributes, found.dimension_names), (said, ["time", "x"]))
        for i, compression in enumerate((4, "zstd:1", "blosc")):
            ht.io.append_rows(ht.array(ROWS, split=0), folder / f"{i}.zarr", compression=compression)
            ht.io.append_rows(ht.array(ROWS, split=1), folder / f"{i}.zarr")
            self.same(ht.io.load(folder / f"{i}.zarr", split=0), np.concatenate([ROWS, ROWS]))
        MPI.COMM_WORLD.barrier()
        if made:
            made.cleanup()
