#pragma once

#include <heatpp/core/dndarray.hpp>

#include <variant>

// Splits of rows for training and tests. The choice follows from the seed and the global number of a row, and does not
// depend on the number of ranks. Rows stay on their ranks and in order, so that parts may be uneven.
namespace heatpp {

/// Training and test rows: masks (samples,) of bool, cut as the samples, for `x(fold.train)`.
struct Fold {
  DNDarray train, test;
};

struct KFoldOptions {
  std::int64_t n_splits = 5;
  bool shuffle = false;    ///< random folds; else folds are contiguous
  std::uint64_t seed = 0;  ///< for the shuffle
};

/// Folds of equal size, or the first ones longer by one; each fold is the test rows once.
class KFold {
 public:
  explicit KFold(const KFoldOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KFoldOptions& options() const { return options_; }
  /// Returns folds for the rows of `x`, any number of axes. Local. Throws ValueError for splits < 2 or more than rows.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& x) const;

 private:
  KFoldOptions options_;
};

/// Folds with nearly equal shares of every label in each, dealt as in scikit-learn.
class StratifiedKFold {
 public:
  explicit StratifiedKFold(const KFoldOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KFoldOptions& options() const { return options_; }
  /// Returns folds for rows with these labels, whole numbers of any layout; masks are cut like them. Collective: finds
  /// the C labels as confusion_matrix, and a scan and two all-reduces of 8 C bytes. Throws as KFold, and if every label
  /// has fewer rows than splits; if some labels have, the log gets a warning, and some folds have no test rows of
  /// these. TypeError for labels with fractions.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& y) const;

 private:
  KFoldOptions options_;
};

/// A share of the rows, between 0 and 1, or their number.
using RowCount = std::variant<double, std::int64_t>;

struct SplitOptions {
  std::optional<RowCount> test_size =
      std::nullopt;  ///< a share is rounded up; nullopt: all but the training rows, or 0.25
  std::optional<RowCount> train_size = std::nullopt;  ///< a share is rounded down; nullopt: all but the test rows
  bool shuffle = true;                                ///< random rows; else the last ones are for tests
  std::uint64_t seed = 0;                             ///< for the shuffle
  std::optional<DNDarray> stratify = std::nullopt;    ///< labels, with equal shares in both parts
};
struct TrainTest {
  DNDarray x_train, x_test, y_train, y_test;
};
/// Returns masks of training and test rows of `x`, valid for all arrays with as many rows. Local; with `stratify` it
/// costs what StratifiedKFold does. Throws ValueError for parts without rows or with more than exist, labels without
/// shuffle or of a single row, TypeError for labels with fractions.
[[nodiscard]] Fold train_test_masks(const DNDarray& x, const SplitOptions& options = {});
/// Returns training and test rows of both. `y` has a number or a row for each row of `x`, any layout. Collective: the
/// masks, brought to the cut of `y` if it has another one, and the new cuts.
[[nodiscard]] TrainTest train_test_split(const DNDarray& x, const DNDarray& y, const SplitOptions& options = {});
/// Returns training and test rows of `x`.
[[nodiscard]] Fold train_test_split(const DNDarray& x, const SplitOptions& options = {});

}  // namespace heatpp
