#pragma once

#include <heatpp/core/dndarray.hpp>

// How far two ways to label the same rows agree, whatever the labels are called, by scikit-learn's rules. Labels are
// vectors of whole numbers of any layout. Results are the same on every rank. All are collective: they communicate as
// confusion_matrix, but that pairs of more than 1024 labels are counted as `unique_counts` does, so that no table of
// all pairs is made. They throw as confusion_matrix.
namespace heatpp {

/// The share of pairs of rows that both put together or both put apart.
[[nodiscard]] double rand_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// The same less what labels at random would have: 1 for equal groups, about 0 for unrelated ones (Hubert, Arabie
/// 1985).
[[nodiscard]] double adjusted_rand_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// The geometric mean of precision and recall of pairs of rows.
[[nodiscard]] double fowlkes_mallows_score(const DNDarray& labels_true, const DNDarray& labels_pred);

/// What one label tells of the other, in nats.
[[nodiscard]] double mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// The same by the mean of both entropies.
[[nodiscard]] double normalized_mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// The same less what labels at random would have (Vinh, Epps, Bailey 2010).
[[nodiscard]] double adjusted_mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Whether a group holds rows of one true label only.
[[nodiscard]] double homogeneity_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Whether all rows of a true label are in one group.
[[nodiscard]] double completeness_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// The harmonic mean of both, homogeneity counting less with a larger beta.
[[nodiscard]] double v_measure_score(const DNDarray& labels_true, const DNDarray& labels_pred, double beta = 1);

}  // namespace heatpp
