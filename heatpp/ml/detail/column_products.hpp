#pragma once

#include <heatpp/core/detail/simd.hpp>
#include <cstdint>

// Kernels that depend on the width of registers are compiled with HEATPP_SIMD for 32 bytes and, if HEATPP_WIDE is
// defined, with HEATPP_WIDE for 64.
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

/// Stripe: a few neighboring columns of rows. A stripe of some rows is narrow enough to stay in the nearest cache for
/// any number of columns, and its rows do not compete for the same cache lines.
constexpr std::int64_t stripe_width = 16;

/// Rows cut into stripes of columns, `apart` numbers from one to the next; zeros fill the last one.
struct Stripes {
  const double *left, *right;
  std::int64_t rows, columns, apart;
};
/// Adds: sum += left' right, the products of all pairs of columns, on and below the diagonal of `sum`, which is
/// C-ordered with `width` numbers a row, the number of columns in all stripes; may also write above the diagonal. For
/// plain x' x left and right are equal; weighted rows are left. This is half the work of a product of matrices, in
/// tiles that stay in registers.
void add_column_products(const Stripes& x, std::int64_t width, double* sum);

}  // namespace heatpp::ml::detail
