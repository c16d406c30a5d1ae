#pragma once

#include <heatpp/ml/model_selection/splitting.hpp>

// Rows set apart where they depend on each other: by groups, and in time.
namespace heatpp {

struct GroupKFoldOptions {
  std::int64_t n_splits = 5;
};

/// Folds of which none has rows of a group that another has, as equal in size as groups allow: the largest group left
/// goes to the fold with the fewest rows, as in scikit-learn.
class GroupKFold {
 public:
  explicit GroupKFold(const GroupKFoldOptions& options = {}) : options_(options) {}
  [[nodiscard]] const GroupKFoldOptions& options() const { return options_; }
  /// `groups` has the group of each row, as whole numbers of any layout; the masks are cut like it. Collective: costs
  /// what StratifiedKFold does. Throws ValueError for fewer than 2 splits or more than groups, TypeError for numbers
  /// with fractions.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& groups) const;

 private:
  GroupKFoldOptions options_;
};

struct TimeSeriesSplitOptions {
  std::int64_t n_splits = 5;
  std::optional<std::int64_t> max_train_size = std::nullopt;  ///< the last ones before the gap; nullopt: all
  std::optional<std::int64_t> test_size = std::nullopt;       ///< rows; nullopt: those of all, / (n_splits + 1)
  std::int64_t gap = 0;                                       ///< rows before those for tests that are left out
};

/// Rows in the order of time: those for tests are later than those to learn from, and later from fold to fold.
class TimeSeriesSplit {
 public:
  explicit TimeSeriesSplit(const TimeSeriesSplitOptions& options = {}) : options_(options) {}
  [[nodiscard]] const TimeSeriesSplitOptions& options() const { return options_; }
  /// Folds for the rows of `x`, which has any number of axes. Local. Throws ValueError for options that leave a fold
  /// without rows.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& x) const;

 private:
  TimeSeriesSplitOptions options_;
};

}  // namespace heatpp
