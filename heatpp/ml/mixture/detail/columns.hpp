#pragma once

#include <cstdint>

// Kernels over a few rows whose numbers of one feature are contiguous, so that a register holds several rows.
namespace heatpp::ml::detail {

/// Rows are padded to a multiple of row_padding, features to one of feature_padding, both with zeros.
constexpr std::int64_t row_padding = 16, feature_padding = 4;

struct FeatureColumns {
  double* data;
  std::int64_t rows, features, stride;  ///< padded; stride from one feature to the next
  [[nodiscard]] double* of(std::int64_t feature) const { return data + feature * stride; }
};

/// Computes out[i] = height - |(x_i - mean) F|^2 / 2 for an upper triangular F in tiles of 4 columns; a tile has the
/// rows up to its last nonzero one, 4 numbers a row. `scratch` holds row_padding * features numbers.
void triangle_densities(const FeatureColumns& x, const double* mean, const double* factor, double height,
                        double* scratch, double* out);
/// Computes the densities for a diagonal F, one number a feature.
void diagonal_densities(const FeatureColumns& x, const double* mean, const double* factor, double height, double* out);

/// Adds shares * d and shares * d d' for deviations d = x_i - mean, which are written to `deviations`, shaped as x: in
/// `second`, (features, features), the tiles on and below the diagonal.
void add_triangle(const FeatureColumns& x, const double* mean, const double* shares, const FeatureColumns& deviations,
                  double* first, double* second);
/// Adds shares * d and shares * d^2 for each feature; no squares if `second` is null.
void add_squares(const FeatureColumns& x, const double* mean, const double* shares, double* first, double* second);

/// Returns the sum of `n` numbers, a multiple of row_padding.
[[nodiscard]] double sum_of(const double* x, std::int64_t n);

/// Turns `count` lines of log-densities of `rows` rows, `stride` apart, into shares of their sum, and writes the
/// logarithm of the sum to `norms`. Shares below 1e-99 become 0.
void normalise(double* lines, std::int64_t count, std::int64_t rows, std::int64_t stride, double* norms);

}  // namespace heatpp::ml::detail
