#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Weight, mean, and weighted sum of squared deviations from the mean, of some numbers.
struct Moments {
  double n = 0, mean = 0, m2 = 0;
  /// Merges the moments of other numbers (Chan, Golub, LeVeque 1979).
  void merge(const Moments& other);
};

/// Merges the moments of all threads and ranks: one all-reduce of them and a flag, none if rows are replicated. If
/// ranks pass failures, the one of the lowest rank is thrown on all. Collective.
[[nodiscard]] std::vector<Moments> merged_over_ranks(const Rows& rows,
                                                     const std::vector<std::vector<Moments>>& of_thread,
                                                     const std::optional<Communicator::Failure>& failure);

/// Returns the moments of every column in one pass and one all-reduce of 24 features + 24 bytes, none if rows are
/// replicated. `weights` are those of this rank's rows, or null. Collective. Throws ValueError naming the first row
/// with a number that is refused.
[[nodiscard]] std::vector<Moments> column_moments(const char* op, const Rows& rows, const double* weights = nullptr,
                                                  Missing missing = Missing::refused);

}  // namespace heatpp::ml::detail
