#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// What transformed numbers are distributed like.
enum class QuantileOutput { uniform, normal };
struct QuantileTransformerOptions {
  std::int64_t n_quantiles = 1000;  ///< that stand for the distribution; not more than rows are used
  QuantileOutput output = QuantileOutput::uniform;
};
/// Columns made uniform in 0 .. 1, or normal, by their ranks among the rows that were learnt from, by scikit-learn's
/// rules: exact quantiles and linear between. NaN is left out and stays.
class QuantileTransformer {
 public:
  explicit QuantileTransformer(const QuantileTransformerOptions& options = {}) : options_(options) {}
  [[nodiscard]] const QuantileTransformerOptions& options() const { return options_; }
  /// Learns the quantiles, all in one search: communicates as nanpercentile, and one all-reduce of 8 bytes. Collective.
  /// Throws ValueError for infinite numbers, no rows or features and no quantiles.
  QuantileTransformer& fit(const DNDarray& x);
  /// (samples, features), split as the rows, in their floating dtype. Local for arrays. Throws NotFittedError before
  /// fit, ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  /// The numbers that these stand for. Costs and errors as transform.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;
  [[nodiscard]] const DNDarray& quantiles() const;  ///< (quantiles, features), float64

 private:
  QuantileTransformerOptions options_;
  std::optional<DNDarray> quantiles_;
};

}  // namespace heatpp
