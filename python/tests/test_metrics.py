"""Metrics by scikit-learn's options, compared with it."""

import warnings

import numpy as np
import sklearn.metrics
import sklearn.naive_bayes
from layouts import Case, every_layout
from sklearn.datasets import load_iris

import heatpp as ht

ROWS, KINDS = load_iris(return_X_y=True)
TWO = (KINDS > 0).astype(int)
NOISY = ROWS + np.random.default_rng(3).normal(0, 2, ROWS.shape)


class Metrics(Case):
    def test_curves_and_reports(self):
        scores = np.round(NOISY[:, 0], 1)
        for x in every_layout(scores):
            for ours, theirs in ((ht.roc_curve, sklearn.metrics.roc_curve), (ht.precision_recall_curve, sklearn.metrics.precision_recall_curve)):
                for options in ({}, {"drop_intermediate": True}, {"sample_weight": KINDS + 1.0}, {"pos_label": 0}):
                    self.same(tuple(ours(TWO, x, **options)), theirs(TWO, scores, **options))
            self.assertAlmostEqual(ht.average_precision_score(TWO, x), sklearn.metrics.average_precision_score(TWO, scores), places=12)
        shares = sklearn.naive_bayes.GaussianNB().fit(NOISY, KINDS).predict_proba(NOISY)
        for p in every_layout(shares):
            for options in ({"multi_class": "ovr"}, {"multi_class": "ovo", "average": "weighted"}, {"multi_class": "ovr", "average": "weighted"}):
                self.assertAlmostEqual(ht.roc_auc_score(KINDS, p, **options), sklearn.metrics.roc_auc_score(KINDS, shares, **options), places=12)
        found, order = np.roll(KINDS, 7), np.random.default_rng(1).permutation(150)
        for y in every_layout(KINDS[order]):
            self.assertAlmostEqual(ht.matthews_corrcoef(y, found[order]), sklearn.metrics.matthews_corrcoef(KINDS, found), places=12)
            for options in ({}, {"target_names": ["a", "b", "a longer name"], "digits": 4}):
                self.assertEqual(ht.classification_report(y, found[order], **options), sklearn.metrics.classification_report(KINDS, found, **options))
            ours, theirs = (module.classification_report(KINDS, found, output_dict=True) for module in (ht, sklearn.metrics))
            self.assertEqual(ours.keys(), theirs.keys())
            for name, line in theirs.items():
                for key, value in line.items() if isinstance(line, dict) else ():
                    self.assertAlmostEqual(ours[name][key], value, places=12)
            self.assertAlmostEqual(ours["accuracy"], theirs["accuracy"], places=12)

    def matches_scikit_learn(self, y, found, options):
        for normalize in (None, "true", "pred", "all"):
            self.same(ht.confusion_matrix(y, found, normalize=normalize, **options).matrix, sklearn.metrics.confusion_matrix(KINDS, found, normalize=normalize, **options))
        for name in ("precision_score", "recall_score", "f1_score", "jaccard_score"):
            for zero in ("warn", 0.0, 1.0, np.nan)[:3 if name == "jaccard_score" else 4]:
                for average in (None, "macro", "micro", "weighted"):
                    given = {"average": average, "zero_division": zero, **options}
                    self.same(getattr(ht, name)(y, found, **given), getattr(sklearn.metrics, name)(KINDS, found, **given))
        for given in ({}, {"zero_division": 1.0}, {"zero_division": "warn", "digits": 14}):
            ours, theirs = (module.classification_report(kinds, found, output_dict=True, **options, **given) for module, kinds in ((ht, y), (sklearn.metrics, KINDS)))
            self.assertEqual(list(ours), list(theirs))
            for name, line in theirs.items():
                self.same(*(list(each.values()) if isinstance(each, dict) else each for each in (ours[name], line)))
            if "sample_weight" not in options:
                self.assertEqual(ht.classification_report(y, found, **options, **given), sklearn.metrics.classification_report(KINDS, found, **options, **given))

    def test_scores_of_labels(self):
        found, weights = np.where(np.arange(150) % 5 == 0, (KINDS + 1) % 4, KINDS), np.arange(150) % 4 + 0.5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for y in every_layout(KINDS):
                for options in ({}, {"sample_weight": weights}):
                    self.assertAlmostEqual(ht.accuracy_score(y, found, normalize=False, **options), sklearn.metrics.accuracy_score(KINDS, found, normalize=False, **options))
                    for labels in (None, [2, 0], [3, 1, 9], [0, 1, 2, 3]):
                        self.matches_scikit_learn(y, found, {"labels": labels, **options})
        for labels in (np.array([3, 1]), range(3, 0, -2), (3, 1)):
            self.same(ht.confusion_matrix(KINDS, found, labels=labels).matrix, sklearn.metrics.confusion_matrix(KINDS, found, labels=[3, 1]))
        for wrong, text in (({"labels": []}, "got labels="), ({"labels": [1, 1]}, "got 1 twice"), ({"labels": [9]}, "none of which is in y_true")):
            with self.assertRaisesRegex(ValueError, text):
                ht.confusion_matrix(KINDS, found, **wrong)

    def test_scores_of_columns(self):
        shares = sklearn.naive_bayes.GaussianNB().fit(NOISY, KINDS).predict_proba(NOISY)
        for p in every_layout(shares):
            for options in ({}, {"sample_weight": KINDS + 1.0}):
                self.same(ht.roc_auc_score(KINDS, p, multi_class="ovr", average=None, **options), sklearn.metrics.roc_auc_score(KINDS, shares, multi_class="ovr", average=None, **options))
                self.same(ht.average_precision_score(KINDS, p, average=None, **options), sklearn.metrics.average_precision_score(KINDS, shares, average=None, **options))
                for name in ("log_loss", "top_k_accuracy_score"):
                    self.assertAlmostEqual(getattr(ht, name)(KINDS, p, normalize=False, labels=None, **options), getattr(sklearn.metrics, name)(KINDS, shares, normalize=False, **options), places=9)
        self.assertAlmostEqual(ht.roc_auc_score(TWO, y_score=NOISY[:, 0], average=None), sklearn.metrics.roc_auc_score(TWO, NOISY[:, 0], average=None), places=12)
        with self.assertRaisesRegex(ValueError, "got average=None and multi_class='ovo'"):
            ht.roc_auc_score(KINDS, shares, multi_class="ovo", average=None)
