#pragma once

#include <heatpp/core/rows.hpp>

// Separation of groups of rows without true labels, by the rules of scikit-learn. Rows are as for estimators, labels a
// vector of whole numbers of any layout. Results are equal on every rank. All are collective, find the labels as
// confusion_matrix, and throw ValueError for other than 2 .. n - 1 labels, another number of labels than rows and
// numbers that are not finite, TypeError for labels that are fractions.
namespace heatpp {

struct SilhouetteOptions {
  std::optional<std::int64_t> sample_size = std::nullopt;  ///< number of random rows to use; nullopt: all
  std::uint64_t seed = 0;                                  ///< the same rows for any number of ranks
};
/// Returns the mean over rows of (b - a) / max(a, b), with the mean distances a to the other rows of its group and b to
/// those of the nearest other group; 0 for a group of one row (Rousseeuw 1987). Every rank broadcasts its rows, in
/// pieces of at most 1024, and keeps sums of distances by label: 8 n (f + 1) bytes, n being sample_size if given,
/// besides two all-reduces and a small all-gather.
[[nodiscard]] double silhouette_score(const Rows& x, const DNDarray& labels, const SilhouetteOptions& options = {});

/// Returns the ratio of the variances between and within groups: higher is better (Calinski, Harabasz 1974). Two
/// all-reduces, of 8 (C (f + 1) + 1) and 8 (2 C + 1) bytes for C labels.
[[nodiscard]] double calinski_harabasz_score(const Rows& x, const DNDarray& labels);
/// Returns the mean over groups of the similarity to the most similar one, (mean distance to the center, of both) /
/// (distance of centers): lower is better (Davies, Bouldin 1979). As calinski_harabasz_score.
[[nodiscard]] double davies_bouldin_score(const Rows& x, const DNDarray& labels);

}  // namespace heatpp
