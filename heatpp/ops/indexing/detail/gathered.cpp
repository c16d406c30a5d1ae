#include <heatpp/ops/indexing/detail/gathered.hpp>

#include <heatpp/core/detail/plain_type.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/accumulate.h>
#include <algorithm>

namespace heatpp::detail {
namespace {

/// Copies elements at any places. Hardware predicts no random places, so they are known to it `ahead` of their turn.
template <class T, class Place>
void gather(const T* block, const Place* places, T* out, std::int64_t n) {
  constexpr std::int64_t ahead = 256;
  std::int64_t i = 0;
  for (; i + ahead < n; ++i) {
    __builtin_prefetch(block + places[i + ahead]);
    out[i] = block[places[i]];
  }
  for (; i < n; ++i) out[i] = block[places[i]];
}

std::vector<std::int64_t> shape_of_rows(const at::Tensor& block, std::int64_t count) {
  auto shape = block.sizes().vec();
  shape[0] = count;
  return shape;
}

}  // namespace

at::Tensor gathered(const at::Tensor& block, const at::Tensor& places) {
  const auto by_torch = [&] { return at::index_select(block, 0, places.to(block.device())); };
  if (!block.is_cpu() || !block.is_contiguous() || block.is_conj() || block.is_neg()) return by_torch();
  const auto from = places.contiguous();
  const auto result = at::empty(shape_of_rows(block, from.numel()), block.options());
  const auto row_bytes = block.element_size() * c10::multiply_integers(block.sizes().slice(1));
  const bool done = with_plain_type(row_bytes, [&]<class T>() {
    const auto* const in = static_cast<const T*>(block.const_data_ptr());
    auto* const out = static_cast<T*>(result.data_ptr());
    const auto gather_at = [&](const auto* place) {
      constexpr std::int64_t worth_a_thread = 1 << 14;
      at::parallel_for(0, from.numel(), worth_a_thread, [=](std::int64_t first, std::int64_t last) {
        gather(in, place + first, out + first, last - first);
      });
    };
    if (from.scalar_type() == at::kInt) gather_at(from.const_data_ptr<std::int32_t>());
    else gather_at(from.const_data_ptr<std::int64_t>());
  });
  return done ? result : by_torch();
}

}  // namespace heatpp::detail
