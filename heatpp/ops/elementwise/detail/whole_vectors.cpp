#include <heatpp/ops/elementwise/detail/whole_vectors.hpp>

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorIterator.h>

#include <heatpp/core/detail/fused/kernels.hpp>

#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace heatpp::detail::local {
namespace {

using fused::whole_vectors;
constexpr std::int64_t unit = 8192, units_for_a_thread = 4;
static_assert(unit % whole_vectors == 0 && unit * units_for_a_thread == at::internal::GRAIN_SIZE);

template <std::size_t N>
using Blocks = std::array<at::Tensor, N>;

/// Empty blocks are left to the function, which may throw for their dtype.
bool is_vectorized(const at::Tensor& x, at::ScalarType type) {
  return x.is_cpu() && x.numel() > 0 && (at::isFloatingType(type) || at::isComplexType(type));
}

/// Returns the elements in the order of the result, or one number.
at::Tensor flat(const at::Tensor& x, at::IntArrayRef shape) {
  const auto plain = x.detach().resolve_conj().resolve_neg();
  return plain.numel() == 1 ? plain.reshape({1}) : plain.expand(shape).contiguous().view({-1});
}

at::Tensor part(const at::Tensor& x, std::int64_t first, std::int64_t count) {
  return x.numel() == 1 ? x : x.narrow(0, first, count);
}

/// Returns the elements from the first one on, and copies of that one up to a whole vector.
at::Tensor padded(const at::Tensor& x, std::int64_t first) {
  auto result = at::empty({whole_vectors}, x.options());
  const auto size = static_cast<std::size_t>(x.element_size()),
             at = static_cast<std::size_t>(x.numel() == 1 ? 0 : first),
             count = static_cast<std::size_t>(x.numel()) - at;
  const auto* const from = static_cast<const std::byte*>(x.const_data_ptr()) + at * size;
  auto* const to = static_cast<std::byte*>(result.mutable_data_ptr());
  std::memcpy(to, from, count * size);
  for (auto i = count; i < static_cast<std::size_t>(whole_vectors); ++i) std::memcpy(to + i * size, from, size);
  return result;
}

/// Calls f(first, count) for multiples of whole vectors that make up n, on LibTorch's threads. LibTorch does not share
/// a function of these elements among threads again. (at::parallel_for would need a caller that OpenMP compiles.)
template <class F>
void in_units(std::int64_t n, F f) {
  if (n <= unit) return n > 0 ? f(0, n) : void();
  auto units = at::empty({(n + unit - 1) / unit}, at::kByte);  // their addresses count
  const auto* const origin = static_cast<const char*>(units.const_data_ptr());
  auto iterator = at::TensorIterator::nullary_op(units);
  const auto compute = [&](char** data, const std::int64_t*, std::int64_t count) {
    const auto first = (data[0] - origin) * unit;
    f(first, std::min(count * unit, n - first));
  };
  iterator.for_each(compute, units_for_a_thread);
}

template <std::size_t N, class F>
void compute_rest(const at::Tensor& result, std::int64_t first, const Blocks<N>& blocks, F into) {
  auto out = at::empty({whole_vectors}, result.options());
  std::apply([&](const auto&... x) { into(out, padded(x, first)...); }, blocks);
  const auto size = result.element_size();
  std::memcpy(static_cast<std::byte*>(result.mutable_data_ptr()) + first * size, out.const_data_ptr(),
              static_cast<std::size_t>((result.numel() - first) * size));
}

/// Returns the result of contiguous blocks, one of which may be a number.
template <std::size_t N, class F>
at::Tensor computed(at::IntArrayRef shape, at::ScalarType type, const Blocks<N>& blocks, F into) {
  const auto result = at::empty(shape, blocks[0].options().dtype(type)), elements = result.view({-1});
  const auto n = result.numel(), whole = n - n % whole_vectors;
  in_units(whole, [&](std::int64_t first, std::int64_t count) {
    auto out = elements.narrow(0, first, count);
    std::apply([&](const auto&... x) { into(out, part(x, first, count)...); }, blocks);
  });
  if (whole < n) compute_rest(elements, whole, blocks, into);
  return result;
}

/// Returns f's result with its gradients, but with these elements, if a block wants gradients.
template <class F>
at::Tensor with_gradients(at::Tensor elements, bool wanted, F f) {
  if (!wanted || !c10::GradMode::is_enabled()) return elements;
  auto result = f();
  result.variable_data().copy_(elements);
  return result;
}

at::Tensor of_one(const at::Tensor& x, at::ScalarType type, at::Tensor (*f)(const at::Tensor&),
                  at::Tensor& (*into)(at::Tensor&, const at::Tensor&)) {
  if (!is_vectorized(x, x.scalar_type())) return f(x);
  return with_gradients(computed(x.sizes(), type, Blocks<1>{flat(x, x.sizes())}, into), x.requires_grad(),
                        [&] { return f(x); });
}

}  // namespace

at::Tensor in_whole_vectors(const at::Tensor& x, at::Tensor (*f)(const at::Tensor&),
                            at::Tensor& (*into)(at::Tensor&, const at::Tensor&)) {
  return of_one(x, x.scalar_type(), f, into);
}

at::Tensor in_whole_vectors(const at::Tensor& a, const at::Tensor& b,
                            at::Tensor (*f)(const at::Tensor&, const at::Tensor&),
                            at::Tensor& (*into)(at::Tensor&, const at::Tensor&, const at::Tensor&)) {
  const auto type = at::result_type(a, b);
  if (!is_vectorized(a, type) || !is_vectorized(b, type)) return f(a, b);
  const auto shape = at::infer_size(a.sizes(), b.sizes());
  const Blocks<2> blocks{flat(a.to(type), shape), flat(b.to(type), shape)};
  return with_gradients(computed(shape, type, blocks, into), a.requires_grad() || b.requires_grad(),
                        [&] { return f(a, b); });
}

at::Tensor angle_in_whole_vectors(const at::Tensor& x) {
  return of_one(x, c10::toRealValueType(x.scalar_type()), at::angle, at::angle_out);
}

}  // namespace heatpp::detail::local
