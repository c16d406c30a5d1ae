#pragma once

#include <heatpp/ml/estimator.hpp>
#include <heatpp/sparse/dcsr.hpp>

// Columns of features brought to a common scale, by scikit-learn's rules: NaN counts as missing, is left out of what
// is learnt and stays; a column without spread is divided by 1. What is learnt is float64, on every rank; results are
// split as the rows, in their floating dtype, and made block by block without a message.
namespace heatpp {

/// What scalers have in common: x becomes (x - shift) / scale, column by column.
class ColumnScaler {
 public:
  /// The rows of `x`, scaled: (samples, features), split as the rows of `x`. Local. Throws NotFittedError before fit,
  /// ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// The rows that `transform` makes these of. Local. Errors as transform.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;
  /// The entries of a sparse matrix, scaled, so that zeros stay zeros: in the same places. Local. Errors as transform,
  /// and ValueError where columns are shifted.
  [[nodiscard]] sparse::DCSRMatrix transform(const sparse::DCSRMatrix& x) const;
  [[nodiscard]] sparse::DCSRMatrix inverse_transform(const sparse::DCSRMatrix& z) const;
  /// (features,): what rows are divided by. Throws NotFittedError before fit.
  [[nodiscard]] const DNDarray& scale() const;

 protected:
  explicit ColumnScaler(const char* kind) : kind_(kind) {}
  [[nodiscard]] const char* kind() const { return kind_; }
  struct Learnt {
    DNDarray shift, scale;
    std::optional<std::pair<double, double>> clip = std::nullopt;  ///< the least and the largest result
  };
  [[nodiscard]] const Learnt& learnt(const char* what) const;
  std::optional<Learnt> learnt_;

 private:
  const char* kind_;
};

struct StandardScalerOptions {
  bool with_mean = true;  ///< take off the mean
  bool with_std = true;   ///< divide by the standard deviation, of n, not n - 1
};
/// Columns of mean 0 and variance 1. A column whose variance is rounding only is not divided.
class StandardScaler : public ColumnScaler {
 public:
  explicit StandardScaler(const StandardScalerOptions& options = {})
      : ColumnScaler("StandardScaler"), options_(options) {}
  [[nodiscard]] const StandardScalerOptions& options() const { return options_; }
  /// Learns means and variances. Collective: one all-reduce of 24 (features + 1) bytes, and with weights one of 24;
  /// none where rows are replicated. Throws ValueError for infinite numbers, no rows or features, and weights that are
  /// negative.
  StandardScaler& fit(const Rows& x, const FitOptions& options = {});
  /// Learns from more rows, as if all had come at once. Costs and errors as fit.
  StandardScaler& partial_fit(const Rows& x, const FitOptions& options = {});
  [[nodiscard]] DNDarray fit_transform(const Rows& x, const FitOptions& options = {}) {
    return fit(x, options).transform(x);
  }
  [[nodiscard]] sparse::DCSRMatrix fit_transform(const sparse::DCSRMatrix& x, const FitOptions& options = {}) {
    return fit(x, options).transform(x);
  }
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static StandardScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& mean() const;            ///< (features,)
  [[nodiscard]] const DNDarray& var() const;             ///< (features,)
  [[nodiscard]] const DNDarray& n_samples_seen() const;  ///< (features,): weight of what was not missing

 private:
  struct Seen {
    DNDarray n, mean, var;
  };
  void learn(const char* what, const Rows& x, const FitOptions& options);
  [[nodiscard]] const Seen& seen(const char* what) const;
  StandardScalerOptions options_;
  std::optional<Seen> seen_;
};

struct MinMaxScalerOptions {
  double low = 0, high = 1;  ///< what the least and the largest number of a column become
  bool clip = false;         ///< results beyond these become them
};
/// Columns between two numbers.
class MinMaxScaler : public ColumnScaler {
 public:
  explicit MinMaxScaler(const MinMaxScalerOptions& options = {}) : ColumnScaler("MinMaxScaler"), options_(options) {}
  [[nodiscard]] const MinMaxScalerOptions& options() const { return options_; }
  /// Learns the least and the largest number of each column. Collective: one all-reduce of 8 (2 features + 1) bytes,
  /// none where rows are replicated; of sparse rows another of 8 (features + 1). Throws ValueError for infinite
  /// numbers, no rows or features, and low >= high.
  MinMaxScaler& fit(const Rows& x);
  MinMaxScaler& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static MinMaxScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& data_min() const;  ///< (features,)
  [[nodiscard]] const DNDarray& data_max() const;  ///< (features,)

 private:
  void learn(const char* what, const Rows& x);
  MinMaxScalerOptions options_;
  std::optional<std::pair<DNDarray, DNDarray>> range_;
};

/// Columns divided by the largest size of their numbers; zeros stay zeros.
class MaxAbsScaler : public ColumnScaler {
 public:
  MaxAbsScaler() : ColumnScaler("MaxAbsScaler") {}
  /// Costs and errors as MinMaxScaler::fit.
  MaxAbsScaler& fit(const Rows& x);
  MaxAbsScaler& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  [[nodiscard]] sparse::DCSRMatrix fit_transform(const sparse::DCSRMatrix& x) { return fit(x).transform(x); }
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static MaxAbsScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& max_abs() const;  ///< (features,)

 private:
  void learn(const char* what, const Rows& x);
  std::optional<DNDarray> largest_;
};

struct RobustScalerOptions {
  bool with_centering = true;                           ///< take off the median
  bool with_scaling = true;                             ///< divide by the distance of the quantiles
  std::pair<double, double> quantile_range = {25, 75};  ///< in percent
  bool unit_variance = false;                           ///< divide further, so that normal numbers get variance 1
};
/// Columns scaled by their median and quantiles, which outliers do not move. Of arrays only, as exact quantiles take
/// several passes.
class RobustScaler : public ColumnScaler {
 public:
  explicit RobustScaler(const RobustScalerOptions& options = {}) : ColumnScaler("RobustScaler"), options_(options) {}
  [[nodiscard]] const RobustScalerOptions& options() const { return options_; }
  /// Learns the quantiles, all in one search: communicates as nanpercentile, and one all-reduce of 8 bytes. Collective.
  /// Throws ValueError for infinite numbers, no rows or features, and quantiles that do not rise in 0 .. 100.
  RobustScaler& fit(const DNDarray& x);
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static RobustScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& center() const;  ///< (features,)

 private:
  RobustScalerOptions options_;
};

/// What the length of a row is.
enum class RowNorm { l2, l1, max };
/// Rows divided by their length, but rows of zeros; nothing has to be learnt. Split as the rows. Local. Throws
/// TypeError and ValueError as Rows.
[[nodiscard]] DNDarray normalize(const Rows& x, RowNorm norm = RowNorm::l2);
[[nodiscard]] sparse::DCSRMatrix normalize(const sparse::DCSRMatrix& x, RowNorm norm = RowNorm::l2);

struct NormalizerOptions {
  RowNorm norm = RowNorm::l2;
};
/// The same as a transformer.
class Normalizer {
 public:
  explicit Normalizer(const NormalizerOptions& options = {}) : options_(options) {}
  [[nodiscard]] const NormalizerOptions& options() const { return options_; }
  Normalizer& fit(const Rows&) { return *this; }
  [[nodiscard]] DNDarray transform(const Rows& x) const { return normalize(x, options_.norm); }
  [[nodiscard]] sparse::DCSRMatrix transform(const sparse::DCSRMatrix& x) const { return normalize(x, options_.norm); }
  [[nodiscard]] DNDarray fit_transform(const Rows& x) const { return transform(x); }
  [[nodiscard]] sparse::DCSRMatrix fit_transform(const sparse::DCSRMatrix& x) const { return transform(x); }

 private:
  NormalizerOptions options_;
};

}  // namespace heatpp
