"""scikit-learn's habits: its names of options and results, its tools with heatpp's estimators, and its functions."""

import copy
import inspect
import pydoc
import warnings

import numpy as np
import sklearn.base
import sklearn.cluster
import sklearn.decomposition
import sklearn.discriminant_analysis
import sklearn.ensemble
import sklearn.exceptions
import sklearn.linear_model
import sklearn.metrics
import sklearn.model_selection
import sklearn.naive_bayes
import sklearn.neighbors
import sklearn.pipeline
import sklearn.preprocessing
import sklearn.utils
from layouts import RANK, RANKS, Case, every_layout
from sklearn.datasets import load_diabetes, load_iris

import heatpp as ht

ROWS, KINDS = load_iris(return_X_y=True)
TWO = (KINDS > 0).astype(int)
NOISY = ROWS + np.random.default_rng(3).normal(0, 2, ROWS.shape)


class Names(Case):
    def test_options_by_the_names_of_scikit_learn(self):
        for made, expected in ((ht.KMeans(3, random_state=7, max_iter=50, n_init=4, init="k-means++", verbose=0, algorithm="elkan"),
                                {"n_clusters": 3, "seed": 7, "max_iterations": 50, "n_init": 4, "init": "plus_plus"}),
                               (ht.KMeans(init="random", n_init="auto", random_state=None), {"n_init": 10, "seed": 0}),
                               (ht.KMeans(n_init="auto", tol=0), {"n_init": 1, "tol": 0}),
                               (ht.LogisticRegression(C=2, max_iter=50, fit_intercept=False, solver="lbfgs", n_jobs=-1, random_state=1), {"c": 2, "max_iterations": 50, "intercept": False}),
                               (ht.LogisticRegression(penalty="l1"), {"l1_ratio": 1}), (ht.LogisticRegression(penalty=None), {"c": np.inf}),
                               (ht.Ridge(alpha=2, fit_intercept=False, solver="auto"), {"alpha": 2, "intercept": False}), (ht.Lasso(max_iter=7, selection="cyclic"), {"max_iterations": 7}),
                               (ht.PCA(n_components="mle", svd_solver="full"), {"n_components": "mle", "solver": "full"}), (ht.PCA(2, svd_solver="auto", iterated_power="auto"), {"power_iterations": 4}),
                               (ht.TruncatedSVD(3, algorithm="randomized", n_iter=2), {"n_components": 3, "solver": "randomized", "power_iterations": 2}),
                               (ht.MinMaxScaler(feature_range=(-1, 1)), {"low": -1, "high": 1}), (ht.OneHotEncoder(handle_unknown="ignore", sparse_output=False), {"unknown": "ignore"}),
                               (ht.KNeighborsRegressor(p=1, algorithm="brute", leaf_size=4), {"metric": "manhattan"}),
                               (ht.GaussianMixture(2, init_params="k-means++", max_iter=5, random_state=3), {"init": "plus_plus", "max_iterations": 5, "seed": 3}),
                               (ht.KFold(3, shuffle=True, random_state=5), {"n_splits": 3, "seed": 5}), (ht.NMF(2, solver="mu", alpha_W=0.1), {"solver": "multiplicative", "alpha_w": 0.1}),
                               (ht.HistGradientBoostingClassifier(max_iter=5, random_state=0), {"max_iterations": 5})):
            self.assertEqual({name: made.get_params()[name] for name in expected}, expected)
        model = ht.KMeans(n_clusters=3).set_params(random_state=4, max_iter=9)
        self.assertEqual((model.get_params()["seed"], model.get_params()["max_iterations"]), (4, 9))
        for text, wrong in (("random_state and seed", lambda: ht.KMeans(seed=1, random_state=2)), ("got shrinkage='auto'; expected None", lambda: ht.LinearDiscriminantAnalysis(shrinkage="auto"))):
            with self.assertRaisesRegex((TypeError, ValueError), text):
                wrong()
        for wrong in (lambda: ht.KMeans(maximal=3), lambda: ht.KMeans(random_state="x"), lambda: ht.PCA(n_components="most")):
            with self.assertRaises(TypeError):
                wrong()
        with self.assertRaisesRegex(ValueError, "got maximal; expected an option"):
            ht.KMeans().set_params(maximal=3)

    def test_results_by_the_names_of_scikit_learn(self):
        pairs = [(ht.KMeans(n_clusters=3, init=ROWS[[10, 80, 130]]), sklearn.cluster.KMeans(3, init=ROWS[[10, 80, 130]], n_init=1), (), ("cluster_centers_", "labels_", "inertia_")),
                 (ht.LinearRegression(), sklearn.linear_model.LinearRegression(), (ROWS[:, 0],), ("coef_", "intercept_")),
                 (ht.PCA(n_components=2), sklearn.decomposition.PCA(2), (), ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "noise_variance_", "n_components_")),
                 (ht.PCA(n_components="mle"), sklearn.decomposition.PCA("mle"), (), ("n_components_", "explained_variance_")),
                 (ht.GaussianNB(), sklearn.naive_bayes.GaussianNB(), (KINDS,), ("theta_", "var_", "class_count_", "class_prior_", "classes_", "epsilon_")),
                 (ht.StandardScaler(), sklearn.preprocessing.StandardScaler(), (), ("mean_", "scale_", "var_")),
                 (ht.MinMaxScaler(feature_range=(-1, 2)), sklearn.preprocessing.MinMaxScaler((-1, 2)), (), ("scale_", "min_", "data_min_", "data_max_", "data_range_")),
                 (ht.MaxAbsScaler(), sklearn.preprocessing.MaxAbsScaler(), (), ("max_abs_", "scale_")),
                 (ht.RobustScaler(), sklearn.preprocessing.RobustScaler(), (), ("center_", "scale_")),
                 (ht.DBSCAN(eps=0.6), sklearn.cluster.DBSCAN(eps=0.6), (), ("labels_", "core_sample_indices_")),
                 (ht.LinearDiscriminantAnalysis(), sklearn.discriminant_analysis.LinearDiscriminantAnalysis(), (KINDS,), ("coef_", "intercept_", "means_", "priors_", "xbar_", "explained_variance_ratio_"))]
        for x in every_layout(ROWS):
            for ours, theirs, targets, names in pairs:
                ours, theirs = ours.fit(x, *targets), theirs.fit(ROWS, *targets)
                for name in names:
                    self.same(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9)
        model = ht.LogisticRegression()
        self.assertFalse(hasattr(model, "coef_"))
        with self.assertRaisesRegex(ht.NotFittedError, "expected a call of fit"):
            model.coef_
        self.assertEqual(model.fit(ROWS, KINDS).n_iter_, model.iterations)
        self.assertEqual(ht.RandomForestClassifier(n_estimators=3, random_state=1).fit(ROWS, KINDS).feature_importances_.shape, (4,))
        self.same(copy.copy(model).coef_, model.coef_.numpy())

    def test_number_of_features(self):
        targets = {"classifier": (KINDS,), "regressor": (ROWS[:, 0],)}
        for model in (ht.KMeans(3), ht.MiniBatchKMeans(3), ht.GaussianMixture(2), ht.PCA(2), ht.TruncatedSVD(2), ht.NMF(2), ht.StandardScaler(), ht.MinMaxScaler(), ht.MaxAbsScaler(),
                      ht.RobustScaler(), ht.SimpleImputer(), ht.QuantileTransformer(n_quantiles=10), ht.LinearRegression(), ht.Ridge(), ht.Lasso(), ht.LogisticRegression(), ht.PoissonRegressor(),
                      ht.LinearDiscriminantAnalysis(), ht.GaussianNB(), ht.MultinomialNB(), ht.BernoulliNB(), ht.DecisionTreeClassifier(), ht.RandomForestRegressor(n_estimators=2),
                      ht.HistGradientBoostingClassifier(max_iter=2), ht.HistGradientBoostingRegressor(max_iter=2), ht.Pipeline(ht.PCA(2), ht.GaussianNB())):
            self.assertFalse(hasattr(model, "n_features_in_"))
            kind = sklearn.utils.get_tags(model).estimator_type
            self.assertEqual(model.fit(ROWS, *targets.get(kind, ())).n_features_in_, 4, model)

    def test_classes_by_the_names_of_scikit_learn(self):
        self.assertIs(ht.SpectralClustering, ht.Spectral)
        search = ht.GridSearchCV(estimator=ht.KNeighborsClassifier(), param_grid={"n_neighbors": [1, 3]}, cv=3, n_jobs=-1, verbose=0).fit(ROWS, KINDS)
        self.assertIn(search.best_params_["n_neighbors"], (1, 3))
        self.assertEqual(ht.cross_val_score(estimator=ht.GaussianNB(), X=ROWS, y=KINDS, cv=3, n_jobs=2).shape, (3,))
        with self.assertRaisesRegex(ValueError, "got refit=False"):
            ht.GridSearchCV(ht.GaussianNB(), {}, refit=False)

    def test_boosting_has_the_options_of_scikit_learn(self):
        boosted = sklearn.ensemble.HistGradientBoostingRegressor
        tens = np.round(10 * ROWS)
        for options in ({"monotonic_cst": [1, 0, -1, 0]}, {"monotonic_cst": np.array([0, 1, 0, 1])},
                        {"categorical_features": [1]}, {"categorical_features": np.array([False, True, False, True])}, {"categorical_features": None, "monotonic_cst": None},
                        {"categorical_features": "from_dtype", "loss": "poisson"}):
            given = {"max_iter": 20, "min_samples_leaf": 5, **options}
            expected = boosted(**given).fit(tens[:, [0, 1, 3, 3]], ROWS[:, 2]).predict(tens[:, [0, 1, 3, 3]])
            for x in every_layout(tens[:, [0, 1, 3, 3]]):
                self.same(ht.HistGradientBoostingRegressor(**given).fit(x, ROWS[:, 2]).predict(x), expected, rtol=1e-5)
        # No two divisions of these rows gain the same, and none gains nothing; scikit-learn decides such cases by rounding.
        rows, y = load_diabetes(return_X_y=True)
        for options in ({"loss": "absolute_error"}, {"loss": "quantile", "quantile": 0.2}):
            given = {"max_iter": 20, "max_leaf_nodes": 6, **options}
            expected = boosted(**given).fit(rows[:, 2:4], y).predict(rows[:, 2:4])
            for x in every_layout(rows[:, 2:4]):
                self.same(ht.HistGradientBoostingRegressor(**given).fit(x, y).predict(x), expected, rtol=1e-5)
        self.assertEqual(ht.HistGradientBoostingRegressor(categorical_features=[True, False, True]).get_params()["categorical_features"], [True, False, True])
        self.assertEqual(ht.HistGradientBoostingRegressor(categorical_features=np.array([0, 2])).get_params()["categorical_features"], [0, 2])
        self.assertEqual(ht.HistGradientBoostingRegressor(monotonic_cst=np.array([0, -1])).get_params()["monotonic_cst"], [0, -1])
        self.assertEqual(ht.HistGradientBoostingClassifier(loss="log_loss", max_iter=3).fit(ROWS, KINDS).n_iter_, 3)
        ht.HistGradientBoostingClassifier(class_weight=None, max_features=1.0, interaction_cst=None, scoring="loss")
        automatic = ht.HistGradientBoostingRegressor(early_stopping="auto", validation_fraction=None)
        self.assertEqual((automatic.get_params()["early_stopping"], automatic.get_params()["validation_fraction"]), (None, 0))
        self.assertIsNone(sklearn.base.clone(automatic).get_params()["early_stopping"])
        for rows, steps in ((10000, 5), (10001, 1)):
            x = np.arange(float(rows))
            given = dict(early_stopping="auto", max_iter=5, n_iter_no_change=1, tol=1e12, max_leaf_nodes=2)
            for kind in (ht.HistGradientBoostingRegressor, boosted):
                self.assertEqual(kind(**given).fit(x[:, None], x).n_iter_, steps)
        ht.LogisticRegression(class_weight=None, penalty="deprecated")
        ht.DBSCAN(p=None)
        with self.assertRaisesRegex(ValueError, "got a loss of regressors"):
            ht.HistGradientBoostingClassifier(loss="quantile", quantile=0.5).fit(ROWS, KINDS)

    def test_options_of_features_that_do_not_fit(self):
        for kind, y in ((ht.HistGradientBoostingRegressor, ROWS[:, 2]), (ht.HistGradientBoostingClassifier, TWO)):
            for options, text in (({"categorical_features": [True]}, "got 1 truth values in categorical_features for 4 features"),
                                  ({"categorical_features": np.zeros(5, bool)}, "got 5 truth values in categorical_features for 4 features"),
                                  ({"categorical_features": [0, 4]}, "got feature 4"), ({"categorical_features": np.array([-1])}, "got feature -1"),
                                  ({"categorical_features": [1, 1]}, "got feature 1"), ({"categorical_features": ["a"]}, "columns have no names"),
                                  ({"categorical_features": np.array(["a", "b"])}, "columns have no names"), ({"categorical_features": [[True, False]]}, "expected positions"),
                                  ({"monotonic_cst": [1, 0]}, "got 2 directions in monotonic_cst for 4 features"), ({"monotonic_cst": [1, 0, 2, 0]}, "got 2 in monotonic_cst"),
                                  ({"monotonic_cst": {"a": 1}}, "got a dict for monotonic_cst"), ({"monotonic_cst": {0: 1, 1: 0, 2: 0, 3: 0}}, "columns have no names"),
                                  ({"monotonic_cst": [0.5, 0, 0, 0]}, "expected 1, 0 or -1")):
                for x in every_layout(ROWS):
                    with self.assertRaisesRegex(ValueError, text):
                        kind(max_iter=2, **options).fit(x, y)
        for kind in (ht.DecisionTreeRegressor, ht.RandomForestRegressor, ht.HistGradientBoostingRegressor):
            for weights in ("balanced", {0: 2.0}):
                with self.assertRaisesRegex(ValueError, rf"\[{kind.__name__}.fit\] got class_weight"):
                    kind(class_weight=weights).fit(ROWS, ROWS[:, 0])
        with self.assertRaisesRegex(ValueError, 'got loss="log_loss"; expected "squared_error", "poisson"'):
            ht.HistGradientBoostingRegressor(loss="log_loss")

    def test_methods_have_signatures(self):
        targets = {"fit": ["X", "y", "sample_weight"], "score": ["X", "y", "sample_weight"], "predict": ["X"], "partial_fit": ["X", "y", "sample_weight"]}
        for model in (ht.GaussianNB(), ht.Ridge(), ht.LogisticRegression(), ht.RandomForestRegressor(), ht.HistGradientBoostingClassifier(), ht.KMeans()):
            for name in targets.keys() & set(dir(model)):
                found = inspect.signature(getattr(model, name)).parameters
                self.assertEqual(list(found)[:1], ["X"])
                self.assertIn("y" if name in ("fit", "partial_fit") or name == "score" else "X", found)
            self.assertIn("fit(self, X, y", pydoc.render_doc(type(model).fit, renderer=pydoc.plaintext))
        for model in (ht.Ridge(), ht.GaussianNB(), ht.RandomForestClassifier()):
            self.assertTrue(sklearn.utils.validation.has_fit_parameter(model, "sample_weight"))
            self.assertEqual(list(inspect.signature(model.fit).parameters), targets["fit"])
            self.assertIs(inspect.signature(model.fit).parameters["y"].default, inspect.Parameter.empty)
        self.assertFalse(sklearn.utils.validation.has_fit_parameter(ht.KNeighborsClassifier(), "sample_weight"))
        self.assertEqual(list(inspect.signature(ht.PCA().fit).parameters), ["X", "y"])
        self.assertIsNone(inspect.signature(ht.StandardScaler().transform).parameters.get("y"))
        self.assertEqual(inspect.signature(ht.KMeans).parameters["n_clusters"].default, 8)
        self.same(ht.PCA(2).fit(X=ROWS, y=KINDS).transform(X=ROWS), ht.PCA(2).fit(x=ROWS).transform(x=ROWS).numpy())
        with self.assertRaisesRegex(TypeError, "got x and X"):
            ht.Ridge().fit(x=ROWS, X=ROWS, y=KINDS)

    def test_iterations_that_end_early_warn(self):
        for x in every_layout(NOISY):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                model = ht.LogisticRegression(max_iter=2).fit(x, KINDS)
            self.assertFalse(model.converged)
            if RANK == 0:
                self.assertIn("LogisticRegression.fit", str(said[0].message))
            self.assertTrue(ht.LogisticRegression(max_iter=1000).fit(x, KINDS).converged)

    def test_targets_beside_rows_to_learn_without_them(self):
        for x in every_layout(ROWS):
            self.same(ht.StandardScaler().fit_transform(x, KINDS), sklearn.preprocessing.StandardScaler().fit_transform(ROWS))
            weights = KINDS + 1.0
            self.same(ht.StandardScaler().fit(x, KINDS, weights).mean_, np.average(ROWS, axis=0, weights=weights))
            self.same(ht.StandardScaler().fit(X=x, sample_weight=weights).mean_, np.average(ROWS, axis=0, weights=weights))
            model = ht.KMeans(n_clusters=3, random_state=1)
            self.same(model.fit_predict(x, KINDS), model.labels_.numpy())
            self.assertAlmostEqual(model.score(x, KINDS), -model.inertia_, places=6)

    def test_labels_that_are_floating_numbers(self):
        theirs = sklearn.linear_model.LogisticRegression(C=1, max_iter=500, tol=1e-10).fit(ROWS, TWO)
        for x in every_layout(ROWS):
            for y in every_layout(TWO.astype(float)):
                found = ht.LogisticRegression(C=1, max_iter=500, tol=1e-10).fit(x, y)
                self.same(found.coef_, theirs.coef_, rtol=1e-5)
                self.same(found.classes_, [0, 1])
                self.assertEqual(found.score(x, y), theirs.score(ROWS, TWO))
            for kind in (ht.GaussianNB, ht.KNeighborsClassifier, ht.DecisionTreeClassifier, ht.LinearDiscriminantAnalysis):
                self.same(kind().fit(x, KINDS.astype(float)).predict(x), kind().fit(x, KINDS).predict(x).numpy())
            with self.assertRaisesRegex(TypeError, "with a fraction, in row 1 first"):
                ht.GaussianNB().fit(x, KINDS + np.arange(150) / 7)


class Tools(Case):
    """scikit-learn's own tools, on arrays that each process holds as a whole."""

    def test_clone_and_pipeline(self):
        for x, y in ((NOISY, KINDS), (ht.array(NOISY), ht.array(KINDS))):
            model = sklearn.pipeline.make_pipeline(ht.StandardScaler(), ht.PCA(n_components=3), ht.LogisticRegression(max_iter=200))
            theirs = sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), sklearn.decomposition.PCA(3), sklearn.linear_model.LogisticRegression(max_iter=200))
            self.assertAlmostEqual(sklearn.base.clone(model).fit(x, y).score(x, y), theirs.fit(NOISY, KINDS).score(NOISY, KINDS), places=12)
            self.same(model.fit(x, y).predict(x), theirs.predict(NOISY))

    def test_scores_and_predictions_of_folds(self):
        choose = sklearn.model_selection
        classifiers = [(ht.GaussianNB(), sklearn.naive_bayes.GaussianNB()), (ht.KNeighborsClassifier(3), sklearn.neighbors.KNeighborsClassifier(3)),
                       (ht.LinearDiscriminantAnalysis(), sklearn.discriminant_analysis.LinearDiscriminantAnalysis()),
                       (sklearn.pipeline.make_pipeline(ht.StandardScaler(), ht.GaussianNB()), sklearn.naive_bayes.GaussianNB()),
                       (ht.Pipeline(ht.StandardScaler(), ht.GaussianNB()), sklearn.naive_bayes.GaussianNB())]
        for ours, theirs in classifiers:
            for x, y in ((NOISY, KINDS), (ht.array(NOISY), ht.array(KINDS))):
                for scoring in (None, "accuracy", "f1_macro", "jaccard_micro", "roc_auc_ovr", "neg_log_loss"):
                    self.same(choose.cross_val_score(ours, x, y, cv=3, scoring=scoring), choose.cross_val_score(theirs, NOISY, KINDS, cv=3, scoring=scoring), rtol=1e-6)
                for method in ("predict", "predict_proba"):
                    self.same(choose.cross_val_predict(ours, x, y, cv=3, method=method), choose.cross_val_predict(theirs, NOISY, KINDS, cv=3, method=method), rtol=1e-6)
            for scoring in ("roc_auc", "average_precision", "f1", "neg_brier_score"):
                self.same(choose.cross_val_score(ours, NOISY, TWO, cv=3, scoring=scoring), choose.cross_val_score(theirs, NOISY, TWO, cv=3, scoring=scoring), rtol=1e-6)
        for scoring in (None, "r2", "neg_mean_squared_error"):
            self.same(choose.cross_val_score(ht.Ridge(), NOISY, ROWS[:, 2], scoring=scoring), choose.cross_val_score(sklearn.linear_model.Ridge(), NOISY, ROWS[:, 2], scoring=scoring), rtol=1e-6)
        scores = choose.cross_validate(ht.GaussianNB(), NOISY, KINDS, cv=3, scoring=["accuracy", "f1_macro"], return_train_score=True)
        self.same(scores["test_accuracy"], choose.cross_val_score(sklearn.naive_bayes.GaussianNB(), NOISY, KINDS, cv=3))

    def test_searches(self):
        choose = sklearn.model_selection
        for ours, theirs, grid in ((ht.KNeighborsClassifier(), sklearn.neighbors.KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}),
                                   (sklearn.pipeline.Pipeline([("scale", ht.StandardScaler()), ("model", ht.LogisticRegression(max_iter=300))]),
                                    sklearn.pipeline.Pipeline([("scale", sklearn.preprocessing.StandardScaler()), ("model", sklearn.linear_model.LogisticRegression(max_iter=300))]),
                                    {"model__C": [0.01, 1.0]})):
            for x, y in ((NOISY, KINDS), (ht.array(NOISY), ht.array(KINDS))):
                ours_found = choose.GridSearchCV(ours, grid, cv=3).fit(x, y)
                found = choose.GridSearchCV(theirs, grid, cv=3).fit(NOISY, KINDS)
                self.assertEqual((ours_found.best_params_, ours_found.n_features_in_), (found.best_params_, 4))
                self.same(ours_found.cv_results_["mean_test_score"], found.cv_results_["mean_test_score"], rtol=1e-6)
                self.same(np.asarray(ours_found.predict(x)), found.predict(NOISY))
                self.assertAlmostEqual(ours_found.score(x, y), found.score(NOISY, KINDS), places=6)
        search = choose.RandomizedSearchCV(ht.Ridge(), {"alpha": [0.1, 1.0, 10.0]}, n_iter=2, random_state=0, cv=3).fit(NOISY, ROWS[:, 2])
        self.assertIn(search.best_params_["alpha"], (0.1, 1.0, 10.0))

    def test_metrics_of_predictions(self):
        model = ht.GaussianNB().fit(NOISY, KINDS)
        theirs = sklearn.naive_bayes.GaussianNB().fit(NOISY, KINDS)
        found = model.predict(NOISY)
        self.assertEqual(sklearn.metrics.accuracy_score(KINDS, found), sklearn.metrics.accuracy_score(KINDS, theirs.predict(NOISY)))
        self.same(sklearn.metrics.confusion_matrix(KINDS, found), sklearn.metrics.confusion_matrix(KINDS, theirs.predict(NOISY)))
        self.assertAlmostEqual(sklearn.metrics.log_loss(KINDS, model.predict_proba(NOISY)), sklearn.metrics.log_loss(KINDS, theirs.predict_proba(NOISY)), places=8)
        self.assertEqual(found.__array__(dtype=np.float32).dtype, np.float32)
        with self.assertRaises(ValueError):
            found.__array__(copy=False)

    def test_parts_of_arrays_are_refused(self):
        cut = ht.array(NOISY, split=0)
        self.assertEqual(hasattr(cut, "__array__"), RANKS == 1)
        if RANKS > 1:
            with self.assertRaisesRegex(AttributeError, "each rank has a part; expected x.numpy"):
                cut.__array__
            found = ht.GaussianNB().fit(cut, KINDS).predict(cut)
            with self.assertRaises(ValueError):
                sklearn.metrics.accuracy_score(KINDS, found)
            with self.assertRaises(ValueError):
                sklearn.model_selection.cross_val_score(ht.GaussianNB(), cut, ht.array(KINDS, split=0))
        self.same(ht.cross_val_score(ht.GaussianNB(), cut, KINDS), sklearn.model_selection.cross_val_score(sklearn.naive_bayes.GaussianNB(), NOISY, KINDS))

    def test_what_tools_ask(self):
        for model, kind in ((ht.GaussianNB(), "classifier"), (ht.KNeighborsClassifier(), "classifier"), (ht.Ridge(), "regressor"), (ht.RandomForestRegressor(), "regressor"),
                            (ht.KMeans(), "clusterer"), (ht.PCA(), None), (ht.Pipeline(ht.PCA(), ht.GaussianNB()), "classifier"), (ht.LinearDiscriminantAnalysis(), "classifier")):
            self.assertEqual(sklearn.utils.get_tags(model).estimator_type, kind)
        self.assertEqual((sklearn.base.is_classifier(ht.GaussianNB()), sklearn.base.is_regressor(ht.Ridge())), (True, True))
        with self.assertRaises(sklearn.exceptions.NotFittedError):
            sklearn.utils.validation.check_is_fitted(ht.Ridge())
        sklearn.utils.validation.check_is_fitted(ht.Ridge().fit(ROWS, KINDS))


class Choice(Case):
    def test_rare_labels(self):
        rows, kinds = np.random.default_rng(0).normal(size=(33, 2)), np.repeat([0, 1, 2], [20, 10, 3])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = sklearn.model_selection.cross_val_score(sklearn.neighbors.KNeighborsClassifier(), rows, kinds)
        for x in every_layout(rows):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                self.same(ht.cross_val_score(ht.KNeighborsClassifier(), x, kinds), expected)
            if RANK == 0:
                self.assertIn("got a label with 3 rows for 5 splits", str(said[0].message))
            with self.assertRaisesRegex(ValueError, "got labels of at most 20 rows for 21 splits"):
                ht.cross_val_score(ht.KNeighborsClassifier(), x, kinds, cv=21)

    def test_scorers(self):
        for x in every_layout(NOISY):
            for kinds, names in ((KINDS, ("accuracy", "balanced_accuracy", "f1_macro", "precision_weighted", "recall_micro", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "neg_log_loss",
                                          "matthews_corrcoef", "adjusted_rand_score", "precision_micro", "f1_micro", "jaccard_micro", "jaccard_macro", "jaccard_weighted", "neg_brier_score",
                                          "top_k_accuracy")),
                                 (TWO, ("f1", "precision", "recall", "jaccard", "roc_auc", "average_precision", "roc_auc_ovr", "neg_log_loss", "neg_brier_score"))):
                for name in names:
                    self.same(ht.cross_val_score(ht.GaussianNB(), x, kinds, cv=3, scoring=name),
                              sklearn.model_selection.cross_val_score(sklearn.naive_bayes.GaussianNB(), NOISY, kinds, cv=3, scoring=name), rtol=1e-8)
            for name in ("r2", "explained_variance", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error", "neg_max_error"):
                self.same(ht.cross_val_score(ht.Ridge(), x, KINDS, scoring=name, cv=3),
                          sklearn.model_selection.cross_val_score(sklearn.linear_model.Ridge(), NOISY, KINDS, scoring=name, cv=sklearn.model_selection.KFold(3)), rtol=1e-7)
        self.same(ht.cross_val_score(ht.Pipeline(ht.StandardScaler(), ht.LogisticRegression()), x, TWO, scoring="roc_auc"),
                  sklearn.model_selection.cross_val_score(sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), sklearn.linear_model.LogisticRegression()), NOISY, TWO,
                                                          scoring="roc_auc"), rtol=1e-6)
        self.assertTrue(set(ht.get_scorer_names()) <= set(sklearn.metrics.get_scorer_names()))
        self.assertGreater(ht.cross_val_score(ht.GaussianNB(), x, KINDS).mean(), 0.3)

    def test_search_has_the_names_of_scikit_learn(self):
        known = sklearn.model_selection.GridSearchCV(sklearn.neighbors.KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, scoring="f1_macro").fit(NOISY, KINDS)
        for x in every_layout(NOISY):
            search = ht.GridSearch(ht.KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, scoring="f1_macro")
            self.assertRaises(ht.NotFittedError, lambda: search.best_params_)
            search.fit(x, KINDS)
            self.assertEqual((search.best_params_, search.best_index_), (known.best_params_, known.best_index_))
            self.assertAlmostEqual(search.best_score_, known.best_score_, places=10)
            for name in ("split3_test_score", "mean_test_score", "std_test_score", "rank_test_score"):
                self.same(search.cv_results_[name], known.cv_results_[name])

    def test_predictions_of_folds(self):
        for x in every_layout(NOISY):
            self.same(ht.cross_val_predict(ht.GaussianNB(), x, KINDS), sklearn.model_selection.cross_val_predict(sklearn.naive_bayes.GaussianNB(), NOISY, KINDS))
            self.same(ht.cross_val_predict(ht.GaussianNB(), x, KINDS, cv=3, method="predict_proba"),
                      sklearn.model_selection.cross_val_predict(sklearn.naive_bayes.GaussianNB(), NOISY, KINDS, cv=3, method="predict_proba"), rtol=1e-8)
            with self.assertRaisesRegex(ValueError, "expected all labels in each"):
                ht.cross_val_predict(ht.GaussianNB(), x, KINDS, cv=ht.KFold(3), method="predict_proba")
            with self.assertRaisesRegex(ValueError, "expected each row in one"):
                ht.cross_val_predict(ht.GaussianNB(), x, KINDS, cv=ht.TimeSeriesSplit())

    def test_folds(self):
        groups = np.arange(150) // 7 % 9
        makers = [(ht.GroupKFold(n_splits=4), sklearn.model_selection.GroupKFold(4)), (ht.TimeSeriesSplit(n_splits=4, gap=3), sklearn.model_selection.TimeSeriesSplit(4, gap=3)),
                  (ht.StratifiedKFold(4), sklearn.model_selection.StratifiedKFold(4)), (ht.KFold(4), sklearn.model_selection.KFold(4))]
        for x in every_layout(ROWS):
            for ours, theirs in makers:
                for found, expected in zip(ours.split(x, KINDS, groups), theirs.split(ROWS, KINDS, groups), strict=True):
                    for mask, rows in zip(found, expected):
                        self.same(np.nonzero(mask.numpy())[0], rows)
                self.assertEqual(ours.get_n_splits(), 4)
            self.same(ht.cross_val_score(ht.GaussianNB(), x, KINDS, groups=groups, cv=ht.GroupKFold(n_splits=4)),
                      sklearn.model_selection.cross_val_score(sklearn.naive_bayes.GaussianNB(), ROWS, KINDS, groups=groups, cv=sklearn.model_selection.GroupKFold(4)))
        with self.assertRaisesRegex(ValueError, "got no groups"):
            ht.GroupKFold().split(x, KINDS)

    def test_parts(self):
        numbers = np.arange(150)
        for x in every_layout(ROWS):
            for options, train, test in (({"test_size": 30}, 120, 30), ({"train_size": 30}, 30, 120), ({"test_size": 0.1, "train_size": 0.2}, 30, 15), ({}, 112, 38),
                                         ({"test_size": 30, "stratify": KINDS}, 120, 30)):
                parts = ht.train_test_split(x, KINDS, numbers, random_state=3, **options)
                for i, size in ((0, train), (1, test)):
                    places = parts[4 + i].numpy()
                    self.assertEqual(len(places), size)
                    self.same(parts[i], ROWS[places])
                    self.same(parts[2 + i], KINDS[places])
            x_train, x_test, y_train, y_test = ht.train_test_split(x, KINDS, test_size=30, shuffle=False)
            self.same(x_test, ROWS[120:])
            self.same(ht.train_test_split(x, test_size=0.2, random_state=1).test, ht.train_test_split(x, KINDS, test_size=0.2, seed=1).x_test.numpy())
        with self.assertRaisesRegex(ValueError, "expected as many rows"):
            ht.train_test_split(ROWS, KINDS[:5])
