#pragma once

#include <heatpp/ml/model_selection/splitting.hpp>

// Folds of the rows of an array, as masks that are cut as the rows.
namespace heatpp::ml::detail {

/// Returns the layout of one number for each row of `x`. Local. Throws ValueError for an array without axes.
[[nodiscard]] Layout samples_of(const char* op, const DNDarray& x);

/// Throws ValueError for fewer than 2 splits or more than rows.
void check_splits(const char* op, std::int64_t splits, std::int64_t rows);

/// Returns the global number of each row of this rank, in order. Local.
[[nodiscard]] std::vector<std::int64_t> row_numbers(const Layout& layout, const Communicator& comm);

/// Returns a mask of the rows i of this rank for which is_true(i) holds. Local.
[[nodiscard]] DNDarray mask_of(const Layout& layout, const Communicator& comm,
                               const std::function<bool(std::int64_t i)>& is_true);

/// Returns one fold for each of `splits`; a row of this rank is a test row of fold `fold_of`. Local.
[[nodiscard]] std::vector<Fold> folds_by(const std::vector<std::int64_t>& fold_of, std::int64_t splits,
                                         const Layout& layout, const Communicator& comm);

}  // namespace heatpp::ml::detail
