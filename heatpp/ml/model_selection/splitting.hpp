#pragma once

#include <heatpp/core/dndarray.hpp>

#include <variant>

// Rows set apart for tests. Which ones follows from the seed and the number of a row among all, so that it is the same
// on any number of ranks; rows stay on their ranks and in their order, and parts are cut unevenly where the rows are.
namespace heatpp {

/// Rows to learn from and rows to judge by: masks (samples,) of bool, cut as the samples, for `x(fold.train)`.
struct Fold {
  DNDarray train, test;
};

struct KFoldOptions {
  std::int64_t n_splits = 5;
  bool shuffle = false;    ///< rows at random, not one stretch after the other
  std::uint64_t seed = 0;  ///< of the shuffle
};

/// Folds of equal size, the first ones longer by one where they cannot be, each of which is for tests once.
class KFold {
 public:
  explicit KFold(const KFoldOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KFoldOptions& options() const { return options_; }
  /// Of the rows of `x`, any number of axes. Local. Throws ValueError for fewer than 2 splits or more than rows.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& x) const;

 private:
  KFoldOptions options_;
};

/// The same with nearly as large a share of every label in each fold, as scikit-learn deals them.
class StratifiedKFold {
 public:
  explicit StratifiedKFold(const KFoldOptions& options = {}) : options_(options) {}
  [[nodiscard]] const KFoldOptions& options() const { return options_; }
  /// Of rows with these labels, whole numbers of any layout, as which the masks are cut. Collective: finds the C labels
  /// as confusion_matrix, and a scan and two all-reduces of 8 C bytes. Throws as KFold, and if every label has fewer
  /// rows than splits; if some have, a warning goes to the log, and some folds have no row of these for tests.
  /// TypeError for labels with fractions.
  [[nodiscard]] std::vector<Fold> split(const DNDarray& y) const;

 private:
  KFoldOptions options_;
};

/// A share of the rows, more than 0 and less than 1, or how many.
using RowCount = std::variant<double, std::int64_t>;

struct SplitOptions {
  std::optional<RowCount> test_size =
      std::nullopt;  ///< a share is rounded up; nullopt: those not for training, or 0.25
  std::optional<RowCount> train_size = std::nullopt;  ///< a share is rounded down; nullopt: those not for tests
  bool shuffle = true;                                ///< rows at random; else the last ones are for tests
  std::uint64_t seed = 0;                             ///< of the shuffle
  std::optional<DNDarray> stratify = std::nullopt;    ///< labels, of which both parts get the same shares
};
struct TrainTest {
  DNDarray x_train, x_test, y_train, y_test;
};
/// Which rows of `x` are for training and which for tests; of other arrays of as many rows the same ones. Local, but
/// with `stratify`, which costs what StratifiedKFold does. Throws ValueError for parts without rows or of more than
/// there are, labels without shuffle or of a single row, TypeError for labels with fractions.
[[nodiscard]] Fold train_test_masks(const DNDarray& x, const SplitOptions& options = {});
/// The rows of both. `y` has a number or a row for each row of `x`, any layout. Collective: the masks, brought to the
/// cut of `y` where it has another, and the new cuts.
[[nodiscard]] TrainTest train_test_split(const DNDarray& x, const DNDarray& y, const SplitOptions& options = {});
/// The same without `y`: train and test are rows of `x`.
[[nodiscard]] Fold train_test_split(const DNDarray& x, const SplitOptions& options = {});

}  // namespace heatpp
