#pragma once

#include <heatpp/ml/estimator.hpp>
#include <heatpp/sparse/dcsr.hpp>

// Bring columns to a common scale, by the rules of scikit-learn: NaN counts as missing, is left out of the fit and
// stays NaN; a column without spread is divided by 1. The fitted state is float64, on every rank; results are split as
// the rows, in their floating dtype, and made block by block without a message.
namespace heatpp {

/// The base of scalers: x becomes (x - shift) / scale, column by column.
class ColumnScaler {
 public:
  /// Returns the scaled rows of `x`: (samples, features), split as the rows of `x`. Local. Throws NotFittedError before
  /// fit, ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// Returns the original rows of scaled rows. Local. Errors as transform.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;
  /// Returns the scaled entries of a sparse matrix, in the same places. Local. Errors as transform, and ValueError if
  /// columns are shifted, since zeros would not stay.
  [[nodiscard]] sparse::DCSRMatrix transform(const sparse::DCSRMatrix& x) const;
  [[nodiscard]] sparse::DCSRMatrix inverse_transform(const sparse::DCSRMatrix& z) const;
  /// (features,): the divisors of columns. Throws NotFittedError before fit.
  [[nodiscard]] const DNDarray& scale() const;

 protected:
  explicit ColumnScaler(const char* kind) : kind_(kind) {}
  [[nodiscard]] const char* kind() const { return kind_; }
  struct Fitted {
    DNDarray shift, scale;
    std::optional<std::pair<double, double>> clip = std::nullopt;  ///< the least and the largest result
  };
  [[nodiscard]] const Fitted& fitted_state(const char* what) const;
  std::optional<Fitted> fitted_;

 private:
  const char* kind_;
};

struct StandardScalerOptions {
  bool with_mean = true;  ///< subtract the mean
  bool with_std = true;   ///< divide by the standard deviation, of n, not n - 1
};
/// Scales columns to mean 0 and variance 1. A column whose variance is only rounding is not divided.
class StandardScaler : public ColumnScaler {
 public:
  explicit StandardScaler(const StandardScalerOptions& options = {})
      : ColumnScaler("StandardScaler"), options_(options) {}
  [[nodiscard]] const StandardScalerOptions& options() const { return options_; }
  /// Finds means and variances. Collective: one all-reduce of 24 (features + 1) bytes, and with weights one of 24; none
  /// if rows are replicated. Throws ValueError for infinite numbers, no rows or features, and weights that are
  /// negative.
  StandardScaler& fit(const Rows& x, const FitOptions& options = {});
  /// Updates the model with more rows, as if all rows came at once. Costs and errors as fit.
  StandardScaler& partial_fit(const Rows& x, const FitOptions& options = {});
  [[nodiscard]] DNDarray fit_transform(const Rows& x, const FitOptions& options = {}) {
    return fit(x, options).transform(x);
  }
  [[nodiscard]] sparse::DCSRMatrix fit_transform(const sparse::DCSRMatrix& x, const FitOptions& options = {}) {
    return fit(x, options).transform(x);
  }
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static StandardScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& mean() const;            ///< (features,)
  [[nodiscard]] const DNDarray& var() const;             ///< (features,)
  [[nodiscard]] const DNDarray& n_samples_seen() const;  ///< (features,): weight of the numbers that are not missing

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
  double low = 0, high = 1;  ///< the results for the least and the largest number of a column
  bool clip = false;         ///< whether results are clipped to this range
};
/// Maps columns to a range of numbers.
class MinMaxScaler : public ColumnScaler {
 public:
  explicit MinMaxScaler(const MinMaxScalerOptions& options = {}) : ColumnScaler("MinMaxScaler"), options_(options) {}
  [[nodiscard]] const MinMaxScalerOptions& options() const { return options_; }
  /// Finds the least and the largest number of each column. Collective: one all-reduce of 8 (2 features + 1) bytes,
  /// none if rows are replicated; for sparse rows another of 8 (features + 1). Throws ValueError for infinite numbers,
  /// no rows or features, and low >= high.
  MinMaxScaler& fit(const Rows& x);
  MinMaxScaler& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static MinMaxScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& data_min() const;  ///< (features,)
  [[nodiscard]] const DNDarray& data_max() const;  ///< (features,)

 private:
  void learn(const char* what, const Rows& x);
  MinMaxScalerOptions options_;
  std::optional<std::pair<DNDarray, DNDarray>> range_;
};

/// Divides columns by their largest absolute value; zeros stay zeros.
class MaxAbsScaler : public ColumnScaler {
 public:
  MaxAbsScaler() : ColumnScaler("MaxAbsScaler") {}
  /// Finds the largest absolute values. Costs and errors as MinMaxScaler::fit.
  MaxAbsScaler& fit(const Rows& x);
  MaxAbsScaler& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  [[nodiscard]] sparse::DCSRMatrix fit_transform(const sparse::DCSRMatrix& x) { return fit(x).transform(x); }
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static MaxAbsScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& max_abs() const;  ///< (features,)

 private:
  void learn(const char* what, const Rows& x);
  std::optional<DNDarray> largest_;
};

struct RobustScalerOptions {
  bool with_centering = true;                           ///< subtract the median
  bool with_scaling = true;                             ///< divide by the distance of the quantiles
  std::pair<double, double> quantile_range = {25, 75};  ///< in percent
  bool unit_variance = false;                           ///< scale such that normal numbers get variance 1
};
/// Scales columns by their median and quantiles, which outliers hardly change. Takes arrays only, since exact quantiles
/// need several passes.
class RobustScaler : public ColumnScaler {
 public:
  explicit RobustScaler(const RobustScalerOptions& options = {}) : ColumnScaler("RobustScaler"), options_(options) {}
  [[nodiscard]] const RobustScalerOptions& options() const { return options_; }
  /// Finds the quantiles, all in one search: communicates as nanpercentile, and one all-reduce of 8 bytes. Collective.
  /// Throws ValueError for infinite numbers, no rows or features, and quantiles that do not increase within 0 .. 100.
  RobustScaler& fit(const DNDarray& x);
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static RobustScaler from_state(const ModelState& state);
  [[nodiscard]] const DNDarray& center() const;  ///< (features,)

 private:
  RobustScalerOptions options_;
};

/// The norm of a row.
enum class RowNorm { l2, l1, max };
/// Divides rows by their norm, except rows of zeros; needs no fit. The result is split as the rows. Local. Throws
/// TypeError and ValueError as Rows.
[[nodiscard]] DNDarray normalize(const Rows& x, RowNorm norm = RowNorm::l2);
[[nodiscard]] sparse::DCSRMatrix normalize(const sparse::DCSRMatrix& x, RowNorm norm = RowNorm::l2);

struct NormalizerOptions {
  RowNorm norm = RowNorm::l2;
};
/// A transformer that calls normalize.
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
