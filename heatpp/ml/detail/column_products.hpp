#pragma once

#include <cstdint>

namespace heatpp::ml::detail {

/// Rows of columns are padded to a multiple of so many numbers.
constexpr std::int64_t column_padding = 16;

/// sum += left' right, the products of all pairs of columns of `rows` rows, C-ordered with `width` numbers a row, of
/// which the first `columns` count and the others are 0: on and below the diagonal of `sum`, (width, width), of which
/// parts above it are written, too. Plain x' x has the same left and right; weighted rows are left. Half the work of a
/// product of matrices, in tiles that stay in registers.
void add_column_products(const double* left, const double* right, std::int64_t rows, std::int64_t columns,
                         std::int64_t width, double* sum);

}  // namespace heatpp::ml::detail
