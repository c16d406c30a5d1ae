#pragma once

#include <heatpp/core/dndarray.hpp>

// Agreement of two labelings of the same rows, for any names of the labels, by the rules of scikit-learn. Labels are
// vectors of whole numbers of any layout. Results are equal on every rank. All are collective: they communicate as
// confusion_matrix, except that pairs of more than 1024 labels are counted as `unique_counts` does, so that no table of
// all pairs is made. They throw as confusion_matrix.
namespace heatpp {

/// Returns the share of pairs of rows that both labelings join or both separate.
[[nodiscard]] double rand_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Returns rand_score corrected for chance: 1 for equal groups, about 0 for unrelated ones (Hubert, Arabie
/// 1985).
[[nodiscard]] double adjusted_rand_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Returns the geometric mean of precision and recall of pairs of rows.
[[nodiscard]] double fowlkes_mallows_score(const DNDarray& labels_true, const DNDarray& labels_pred);

/// Returns the mutual information of the labelings, in nats.
[[nodiscard]] double mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Returns the mutual information divided by the mean of both entropies.
[[nodiscard]] double normalized_mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Returns the mutual information corrected for chance (Vinh, Epps, Bailey 2010).
[[nodiscard]] double adjusted_mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Returns 1 if each group holds rows of one true label only, less otherwise.
[[nodiscard]] double homogeneity_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Returns 1 if all rows of each true label are in one group, less otherwise.
[[nodiscard]] double completeness_score(const DNDarray& labels_true, const DNDarray& labels_pred);
/// Returns the harmonic mean of both; a larger beta gives homogeneity less weight.
[[nodiscard]] double v_measure_score(const DNDarray& labels_true, const DNDarray& labels_pred, double beta = 1);

}  // namespace heatpp
