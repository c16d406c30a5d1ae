#include <ATen/ATen.h>

#include <heatpp/ops/detail/compress.hpp>
#include <heatpp/ops/detail/index_list.hpp>

#include <cstring>
#include <numeric>

namespace heatpp::detail {
namespace {

/// Every element is written and only kept ones move the end on: nothing to predict, unlike a branch at each one. `out`
/// has room for one more.
template <class T>
void keep_elements(const T* in, const bool* mask, std::int64_t n, T* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    *out = in[i];
    out += mask[i];
  }
}

struct Wide {
  std::uint64_t parts[2];
};

void keep_rows(const std::byte* in, const bool* mask, std::int64_t n, std::int64_t bytes, std::byte* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (!mask[i]) continue;
    std::memcpy(out, in + i * bytes, static_cast<std::size_t>(bytes));
    out += bytes;
  }
}

template <class T>
void keep_as(const void* in, const bool* mask, std::int64_t n, void* out) {
  keep_elements(static_cast<const T*>(in), mask, n, static_cast<T*>(out));
}

void keep(const void* in, const bool* mask, std::int64_t n, std::int64_t bytes, void* out) {
  switch (bytes) {
    case 1: return keep_as<std::uint8_t>(in, mask, n, out);
    case 2: return keep_as<std::uint16_t>(in, mask, n, out);
    case 4: return keep_as<std::uint32_t>(in, mask, n, out);
    case 8: return keep_as<std::uint64_t>(in, mask, n, out);
    case 16: return keep_as<Wide>(in, mask, n, out);
    default: return keep_rows(static_cast<const std::byte*>(in), mask, n, bytes, static_cast<std::byte*>(out));
  }
}

}  // namespace

at::Tensor compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask) {
  const bool plain = axis == 0 && block.is_cpu() && mask.is_cpu() && block.is_contiguous() && mask.is_contiguous();
  if (!plain) return at::index(block, index_list(axis, mask));
  const auto* wanted = mask.const_data_ptr<bool>();
  const auto n = mask.numel();
  const auto count = std::accumulate(wanted, wanted + n, std::int64_t{0});
  auto shape = block.sizes().slice(static_cast<std::size_t>(mask.dim())).vec();
  std::int64_t bytes = block.element_size();
  for (const auto extent : shape) bytes *= extent;
  shape.insert(shape.begin(), count + 1);
  auto kept = at::empty(shape, block.options());
  if (bytes > 0) keep(block.const_data_ptr(), wanted, n, bytes, kept.mutable_data_ptr());
  return kept.narrow(0, 0, count);
}

}  // namespace heatpp::detail
