#pragma once

#include <heatpp/ml/model_selection/splitting.hpp>

// Folds of the rows of an array, as masks that are cut as these.
namespace heatpp::ml::detail {

/// The layout of a number for each row of `x`. Local. Throws ValueError for a number.
[[nodiscard]] Layout samples_of(const char* op, const DNDarray& x);

/// Throws ValueError for fewer than 2 splits or more than rows.
void check_splits(const char* op, std::int64_t splits, std::int64_t rows);

/// Where each row of this rank stands among all, in their order. Local.
[[nodiscard]] std::vector<std::int64_t> row_numbers(const Layout& layout, const Communicator& comm);

/// The rows i of this rank for which is_true(i) holds. Local.
[[nodiscard]] DNDarray mask_of(const Layout& layout, const Communicator& comm,
                               const std::function<bool(std::int64_t i)>& is_true);

/// A fold for each of `splits`, which a row of this rank is for tests in if `fold_of` says so. Local.
[[nodiscard]] std::vector<Fold> folds_by(const std::vector<std::int64_t>& fold_of, std::int64_t splits,
                                         const Layout& layout, const Communicator& comm);

}  // namespace heatpp::ml::detail
