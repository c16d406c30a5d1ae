#include <heatpp_nn/parallel/detail/finite.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace heatpp::nn::detail {
namespace {

// NaN and infinity have all bits of the exponent set. So the largest exponent of a block is enough, without a branch
// for each element.
template <class Bits>
inline bool finite_bits(const Bits* data, std::int64_t n, Bits exponent) {
  constexpr std::int64_t block = 4096;
  for (std::int64_t first = 0; first < n; first += block) {
    const auto end = std::min(n, first + block);
    Bits largest = 0;
    for (auto i = first; i < end; ++i) largest = std::max(largest, static_cast<Bits>(data[i] & exponent));
    if (largest == exponent) return false;
  }
  return true;
}

HEATPP_SIMD bool finite32(const std::uint32_t* data, std::int64_t n) { return finite_bits(data, n, 0x7f800000U); }
HEATPP_SIMD bool finite64(const std::uint64_t* data, std::int64_t n) {
  return finite_bits(data, n, std::uint64_t{0x7ff0000000000000});
}

bool finite_by_norm(const at::Tensor& tensor) {
  // The largest magnitude; NaN wins every comparison.
  const auto largest = at::linalg_vector_norm(tensor, std::numeric_limits<double>::infinity());
  return std::isfinite(largest.item<double>());
}

}  // namespace

bool is_finite(const at::Tensor& tensor) {
  if (tensor.numel() == 0 || !(tensor.is_floating_point() || tensor.is_complex())) return true;
  if (!tensor.is_cpu() || !tensor.is_non_overlapping_and_dense()) return finite_by_norm(tensor.detach());
  if (tensor.scalar_type() == at::kFloat)
    return finite32(static_cast<const std::uint32_t*>(tensor.const_data_ptr()), tensor.numel());
  if (tensor.scalar_type() == at::kDouble)
    return finite64(static_cast<const std::uint64_t*>(tensor.const_data_ptr()), tensor.numel());
  return finite_by_norm(tensor.detach());
}

}  // namespace heatpp::nn::detail
