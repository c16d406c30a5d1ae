#pragma once

#include <cstdint>

// Kernels over a few rows whose numbers of a feature lie behind one another, so that a register holds several rows.
namespace heatpp::ml::detail {

/// Rows are padded to a multiple of row_padding, features to one of feature_padding, both by zeros.
constexpr std::int64_t row_padding = 16, feature_padding = 4;

struct Columns {
  double* data;
  std::int64_t rows, features, stride;  ///< padded; from a feature to the next one
  [[nodiscard]] double* of(std::int64_t feature) const { return data + feature * stride; }
};

/// out[i] = height - |(x_i - mean) F|^2 / 2, where F is upper triangular, in tiles of 4 columns: of each the rows up to
/// its last one, 4 numbers a row. `scratch` holds row_padding * features numbers.
void triangle_densities(const Columns& x, const double* mean, const double* factor, double height, double* scratch,
                        double* out);
/// The same for a diagonal F, a number a feature.
void diagonal_densities(const Columns& x, const double* mean, const double* factor, double height, double* out);

/// Adds shares * d and shares * d d' of deviations d = x_i - mean, which `deviations`, shaped as x, is left with: the
/// tiles of `second`, (features, features), on and below the diagonal.
void add_triangle(const Columns& x, const double* mean, const double* shares, const Columns& deviations, double* first,
                  double* second);
/// Adds shares * d and shares * d^2 of each feature, or none of the squares where `second` is null.
void add_squares(const Columns& x, const double* mean, const double* shares, double* first, double* second);

/// The sum of `n` numbers, a multiple of row_padding.
[[nodiscard]] double sum_of(const double* x, std::int64_t n);

/// Turns `count` lines of log-densities of `rows` rows, `stride` apart, into shares of their sum, of which `norms`
/// becomes the logarithm. Shares below 1e-99 become 0.
void normalise(double* lines, std::int64_t count, std::int64_t rows, std::int64_t stride, double* norms);

}  // namespace heatpp::ml::detail
