#pragma once

#include <heatpp/ml/model_selection/splitting.hpp>

// Folds for rows that depend on each other: by groups, and in time.
namespace heatpp {

struct GroupKFoldOptions {
  std::int64_t n_splits = 5;
};

/// Folds that keep all rows of a group together, with sizes as equal as groups allow: the largest remaining group goes
/// to the fold with the fewest rows, as in scikit-learn.
class GroupKFold {
 public:
  explicit GroupKFold(const GroupKFoldOptions& options = {}) : options_(options) {}
  [[nodiscard]] const GroupKFoldOptions& options() const { return options_; }
  /// Returns folds for `groups`, the group of each row, whole numbers of any layout; the masks are cut like it.
  /// Collective: costs as StratifiedKFold. Throws ValueError for fewer than 2 splits or more than groups, TypeError for
  /// numbers with fractions.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& groups) const;

 private:
  GroupKFoldOptions options_;
};

struct TimeSeriesSplitOptions {
  std::int64_t n_splits = 5;
  std::optional<std::int64_t> max_train_size = std::nullopt;  ///< the last rows before the gap; nullopt: all
  std::optional<std::int64_t> test_size = std::nullopt;       ///< test rows; nullopt: all rows / (n_splits + 1)
  std::int64_t gap = 0;                                       ///< rows left out before the test rows
};

/// Folds for rows in the order of time: test rows are later than training rows, and later from fold to fold.
class TimeSeriesSplit {
 public:
  explicit TimeSeriesSplit(const TimeSeriesSplitOptions& options = {}) : options_(options) {}
  [[nodiscard]] const TimeSeriesSplitOptions& options() const { return options_; }
  /// Returns folds for the rows of `x`, which has any number of axes. Local. Throws ValueError for options that leave a
  /// fold without rows.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& x) const;

 private:
  TimeSeriesSplitOptions options_;
};

}  // namespace heatpp
