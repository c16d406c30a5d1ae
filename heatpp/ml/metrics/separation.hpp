#pragma once

#include <heatpp/core/rows.hpp>

// How well labels part rows into groups, where no true ones are known, by scikit-learn's rules. Rows as estimators take
// them, labels a vector of whole numbers of any layout. Results are the same on every rank. All are collective, find
// the labels as confusion_matrix, and throw ValueError for other than 2 .. n - 1 labels, another number of labels than
// rows and numbers that are not finite, TypeError for labels that are fractions.
namespace heatpp {

struct SilhouetteOptions {
  std::optional<std::int64_t> sample_size = std::nullopt;  ///< of so many rows at random; nullopt: of all
  std::uint64_t seed = 0;                                  ///< the same rows for any number of ranks
};
/// The mean over rows of (b - a) / max(a, b), with the mean distances a to the other rows of its group and b to those
/// of the next group; 0 for a group of one row (Rousseeuw 1987). Every rank broadcasts its rows, in pieces of at most
/// 1024, and keeps sums of distances by label: 8 n (f + 1) bytes, n being sample_size where it is given, beside
/// two all-reduces and a small all-gather.
[[nodiscard]] double silhouette_score(const Rows& x, const DNDarray& labels, const SilhouetteOptions& options = {});

/// The variance between the centres of groups over that within them: higher is better (Calinski, Harabasz 1974). Two
/// all-reduces, of 8 (C (f + 1) + 1) and 8 (2 C + 1) bytes for C labels.
[[nodiscard]] double calinski_harabasz_score(const Rows& x, const DNDarray& labels);
/// The mean over groups of their likeness to the most alike one, the sum of the mean distances to the centre of both
/// over the distance of these: lower is better (Davies, Bouldin 1979). Communicates as calinski_harabasz_score.
[[nodiscard]] double davies_bouldin_score(const Rows& x, const DNDarray& labels);

}  // namespace heatpp
