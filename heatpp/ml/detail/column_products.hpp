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

/// Columns of rows that lie beside each other: a stripe. So narrow, a stripe of some rows stays in the nearest cache,
/// whatever the number of columns, and its rows do not share their places there.
constexpr std::int64_t stripe_width = 16;

/// Rows cut into stripes of columns, `apart` numbers from one to the next, the last one filled up with 0.
struct Stripes {
  const double *left, *right;
  std::int64_t rows, columns, apart;
};
/// sum += left' right, the products of all pairs of columns: on and below the diagonal of `sum`, C-ordered with `width`
/// numbers a row, as many as the stripes have columns together; parts above it are written, too. Plain x' x has the
/// same left and right; weighted rows are left. Half the work of a product of matrices, in tiles that stay in
/// registers.
void add_column_products(const Stripes& x, std::int64_t width, double* sum);

}  // namespace heatpp::ml::detail
