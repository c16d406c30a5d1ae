#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// The distribution of transformed numbers.
enum class QuantileOutput { uniform, normal };
struct QuantileTransformerOptions {
  std::int64_t n_quantiles = 1000;  ///< number of quantiles; at most the number of rows is used
  QuantileOutput output = QuantileOutput::uniform;
};
/// Maps columns to a uniform distribution in 0 .. 1, or a normal one, by exact quantiles of the fit with linear
/// interpolation, with the rules of scikit-learn. NaN is ignored and stays.
class QuantileTransformer {
 public:
  explicit QuantileTransformer(const QuantileTransformerOptions& options = {}) : options_(options) {}
  [[nodiscard]] const QuantileTransformerOptions& options() const { return options_; }
  /// Finds the quantiles, all in one search: communicates as nanpercentile, and one all-reduce of 8 bytes. Collective.
  /// Throws ValueError for infinite numbers, no rows or features and no quantiles.
  QuantileTransformer& fit(const DNDarray& x);
  /// Returns (samples, features), split as the rows, in their floating dtype. Local for arrays. Throws NotFittedError
  /// before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  /// Returns the original numbers. Costs and errors as transform.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;
  [[nodiscard]] const DNDarray& quantiles() const;  ///< (quantiles, features), float64

 private:
  QuantileTransformerOptions options_;
  std::optional<DNDarray> quantiles_;
};

}  // namespace heatpp
