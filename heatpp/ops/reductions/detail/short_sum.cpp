#include <heatpp/ops/reductions/detail/short_sum.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <ATen/EmptyTensor.h>
#include <algorithm>
#include <array>

namespace heatpp::detail {
namespace {

constexpr std::int64_t short_elements = 4096;

/// Adds pieces of a few hundred numbers, each in lanes that fill vectors, so that errors grow slowly.
template <class T>
[[gnu::always_inline]] inline double added(const T* x, std::int64_t n) {
  constexpr std::int64_t piece = 256, width = 16;
  double total = 0;
  for (std::int64_t first = 0; first < n; first += piece) {
    std::array<double, width> lanes{};
    auto i = first;
    const auto end = std::min(n, first + piece);
    for (; i + width <= end; i += width)
      for (std::int64_t lane = 0; lane < width; ++lane) lanes[lane] += x[i + lane];
    for (std::int64_t lane = 0; i < end; ++lane, ++i) lanes[lane] += x[i];
    for (auto half = width / 2; half > 0; half /= 2)
      for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    total += lanes[0];
  }
  return total;
}

HEATPP_SIMD double sum_of(const float* x, std::int64_t n) { return added(x, n); }
HEATPP_SIMD double sum_of(const double* x, std::int64_t n) { return added(x, n); }

template <class T>
void put_sum(const at::Tensor& block, const at::Tensor& sum) {
  *static_cast<T*>(sum.data_ptr()) =
      static_cast<T>(sum_of(static_cast<const T*>(block.const_data_ptr()), block.numel()));
}

}  // namespace

bool is_short(const at::Tensor& block) {
  const auto type = block.scalar_type();
  return (type == at::kFloat || type == at::kDouble) && block.numel() <= short_elements && block.is_cpu() &&
         block.is_contiguous() && !block.is_neg();
}

at::Tensor short_sum(const at::Tensor& block) {
  auto sum = at::Tensor(at::detail::empty_cpu({}, block.scalar_type()));
  block.scalar_type() == at::kFloat ? put_sum<float>(block, sum) : put_sum<double>(block, sum);
  return sum;
}

}  // namespace heatpp::detail
