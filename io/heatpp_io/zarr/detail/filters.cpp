#include <heatpp_io/zarr/detail/filters.hpp>

#include <ATen/ATen.h>

#include <type_traits>

namespace heatpp::io::detail {
namespace {

using c10::ScalarType;

/// Calls `use` with the elements. Whole numbers become unsigned ones, whose sums wrap around.
template <class Use>
void on_elements(const at::Tensor& values, const Use& use) {
  const auto call = [&]<class T>(T) { use(static_cast<T*>(values.data_ptr()), values.numel()); };
  switch (values.scalar_type()) {
    case ScalarType::Double: return call(double{});
    case ScalarType::Float: return call(float{});
    case ScalarType::Half: return call(c10::Half{});
    case ScalarType::BFloat16: return call(c10::BFloat16{});
    default: break;
  }
  switch (values.element_size()) {
    case 1: return call(std::uint8_t{});
    case 2: return call(std::uint16_t{});
    case 4: return call(std::uint32_t{});
    default: return call(std::uint64_t{});
  }
}

/// Sums elements one after another in their own type, as NumPy's cumsum.
void sum_up(const at::Tensor& values) {
  on_elements(values, [](auto* x, std::int64_t count) {
    for (std::int64_t i = 1; i < count; ++i) x[i] = static_cast<std::decay_t<decltype(*x)>>(x[i] + x[i - 1]);
  });
}
void take_differences(const at::Tensor& values) {
  on_elements(values, [](auto* x, std::int64_t count) {
    for (auto i = count; i-- > 1;) x[i] = static_cast<std::decay_t<decltype(*x)>>(x[i] - x[i - 1]);
  });
}

/// Divides in float64 if NumPy does: for all types except shorter floats. uint64 numbers are int64 in memory.
at::Tensor scaled_back(const at::Tensor& values, const Filter& filter) {
  const bool short_float = values.is_floating_point();
  auto x = short_float ? values.clone() : values.to(at::kDouble);
  if (filter.after.element.may_overflow) x.add_(values.lt(0).to(at::kDouble), 0x1p64);
  return x.div_(filter.scale).add_(filter.offset).to(filter.before.in_memory);
}

at::Tensor copied(const at::Tensor& values, ScalarType type) {
  return values.to(type, /*non_blocking=*/false, /*copy=*/true).contiguous();
}

}  // namespace

at::Tensor unfiltered(at::Tensor values, const std::vector<Filter>& filters) {
  for (auto filter = filters.rbegin(); filter != filters.rend(); ++filter) {
    if (filter->kind == Filter::Kind::scaled) {
      values = scaled_back(values, *filter);
      continue;
    }
    values = copied(values, filter->before.in_memory);
    if (filter->kind == Filter::Kind::delta) sum_up(values);
  }
  return values;
}

at::Tensor filtered(at::Tensor values, const std::vector<Filter>& filters) {
  for (const auto& filter : filters) {
    values = copied(values, filter.before.in_memory);
    if (filter.kind == Filter::Kind::delta) take_differences(values);
    values = values.to(filter.after.in_memory);
  }
  return values;
}

}  // namespace heatpp::io::detail
