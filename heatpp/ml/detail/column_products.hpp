#pragma once

#include <heatpp/core/detail/simd.hpp>
#include <cstdint>

// A kernel that counts on the width of registers is compiled with HEATPP_SIMD for 32 bytes and, where HEATPP_WIDE is
// defined, as which it says, for 64.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define HEATPP_WIDE __attribute__((target("arch=x86-64-v4")))
#endif

namespace heatpp::ml::detail {

/// Whether this machine has registers of 64 bytes.
[[nodiscard]] inline bool has_wide() {
#ifdef HEATPP_WIDE
  static const bool found = __builtin_cpu_supports("x86-64-v4");
  return found;
#else
  return false;
#endif
}

/// Rows of columns are padded to a multiple of so many numbers.
constexpr std::int64_t column_padding = 16;

/// sum += left' right, the products of all pairs of columns of `rows` rows, C-ordered with `width` numbers a row, of
/// which the first `columns` count and the others are 0: on and below the diagonal of `sum`, (width, width), of which
/// parts above it are written, too. Plain x' x has the same left and right; weighted rows are left. Half the work of a
/// product of matrices, in tiles that stay in registers.
void add_column_products(const double* left, const double* right, std::int64_t rows, std::int64_t columns,
                         std::int64_t width, double* sum);

}  // namespace heatpp::ml::detail
