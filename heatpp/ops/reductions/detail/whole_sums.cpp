#include <heatpp/ops/reductions/detail/whole_sums.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/operands/detail/around.hpp>

#include <ATen/Dispatch.h>
#include <type_traits>

namespace heatpp::detail {
namespace {

/// Returns the sum of a row. Numbers of 8 and 16 bits are first added in 32 bits, as many as fit.
template <class T>
[[gnu::always_inline]] inline std::int64_t sum_of(const T* data, std::int64_t n) {
  using Part = std::conditional_t<sizeof(T) < 4, std::int32_t, std::int64_t>;
  constexpr std::int64_t piece = 1 << 15;
  std::int64_t total = 0;
  for (std::int64_t first = 0; first < n; first += piece) {
    Part part = 0;
    for (auto i = first; i < std::min(n, first + piece); ++i) part += data[i];
    total += part;
  }
  return total;
}

/// Adds `rows` rows of `width` numbers, in parallel, to `out`.
template <class T>
[[gnu::always_inline]] inline void add_each(const T* __restrict data, std::int64_t rows, std::int64_t width,
                                            std::int64_t* __restrict out) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) out[j] += data[i * width + j];
}

#define HEATPP_WHOLE_SUMS(T)                                                                           \
  HEATPP_SIMD std::int64_t sum_row(const T* data, std::int64_t n) { return sum_of(data, n); }          \
  HEATPP_SIMD void add_rows(const T* data, std::int64_t rows, std::int64_t width, std::int64_t* out) { \
    add_each(data, rows, width, out);                                                                  \
  }
HEATPP_WHOLE_SUMS(std::uint8_t)
HEATPP_WHOLE_SUMS(std::int8_t)
HEATPP_WHOLE_SUMS(std::int16_t)
HEATPP_WHOLE_SUMS(std::int32_t)
HEATPP_WHOLE_SUMS(std::int64_t)
#undef HEATPP_WHOLE_SUMS

/// Adds the columns of a (rows, inner) array to `out`. A few columns are read as many: several rows in parallel.
template <class T>
void add_columns(const T* data, std::int64_t rows, std::int64_t inner, std::int64_t* out) {
  constexpr std::int64_t enough = 256;
  if (inner == 1) {
    *out += sum_row(data, rows);
    return;
  }
  const auto together = std::max<std::int64_t>(1, enough / std::max<std::int64_t>(1, inner));
  if (together == 1 || rows < 2 * together) return add_rows(data, rows, inner, out);
  std::vector<std::int64_t> wide(static_cast<std::size_t>(together * inner));
  const auto tall = rows / together;
  add_rows(data, tall, together * inner, wide.data());
  for (std::int64_t i = 0; i < together * inner; ++i) out[i % inner] += wide[static_cast<std::size_t>(i)];
  add_rows(data + tall * together * inner, rows % together, inner, out);
}

}  // namespace

template <class T>
void add_whole_sums(const T* data, const Around& extents, std::int64_t* out) {
  reduce_middle(
      extents, out,
      [=, inner = extents.inner](std::int64_t first, std::int64_t rows, std::int64_t* sums) {
        add_columns(data + first, rows, inner, sums);
      },
      [](std::int64_t from, std::int64_t& into) { into += from; });
}
template void add_whole_sums(const std::uint8_t*, const Around&, std::int64_t*);
template void add_whole_sums(const std::int64_t*, const Around&, std::int64_t*);

at::Tensor whole_sums(const at::Tensor& block, at::IntArrayRef axes, bool keepdims) {
  const auto view = around_axes(readable(block), axes);
  auto sums = at::zeros(view.kept, at::kLong);
  AT_DISPATCH_INTEGRAL_TYPES(view.data.scalar_type(), "whole_sums", [&] {
    add_whole_sums(view.data.const_data_ptr<scalar_t>(), view.extents, sums.mutable_data_ptr<std::int64_t>());
  });
  const auto result = view.order.restored(sums);
  return keepdims ? result : result.squeeze(axes);
}

}  // namespace heatpp::detail
