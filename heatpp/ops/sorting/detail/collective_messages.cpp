#include <heatpp/ops/sorting/detail/collective_messages.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// Calls f with a buffer of narrow numbers, and takes them back.
template <class F>
void in_few_bytes(std::span<std::int64_t> values, std::int64_t most, F f) {
  if (values.empty()) return;
  with_count_type(most, [&]<class T>() {
    std::vector<T> narrow(values.size());
    std::ranges::transform(values, narrow.begin(), [](std::int64_t value) { return static_cast<T>(value); });
    f(Buffer(narrow));
    std::ranges::copy(narrow, values.begin());
  });
}

}  // namespace

template <class K>
void CollectiveMessages<K>::sum(std::span<std::int64_t> values, std::int64_t most) {
  in_few_bytes(values, most, [&](Buffer narrow) { comm_.allreduce(narrow); });
}

template <class K>
void CollectiveMessages<K>::sum_before(std::span<std::int64_t> values, std::int64_t most) {
  in_few_bytes(values, most, [&](Buffer narrow) { comm_.exscan(narrow); });
  if (comm_.rank() == 0) std::ranges::fill(values, 0);
}

template <class K>
void CollectiveMessages<K>::join(std::span<K> keys) {
  constexpr auto width = std::min(sizeof(K), sizeof(std::int64_t));
  constexpr auto dtype = width == 1   ? Dtype::uint8
                         : width == 2 ? Dtype::int16
                         : width == 4 ? Dtype::int32
                                      : Dtype::int64;
  if (!keys.empty()) comm_.allreduce({keys.data(), std::ssize(keys) * std::int64_t{sizeof(K) / width}, dtype});
}

#define HEATPP_INSTANTIATE(K) template class CollectiveMessages<K>;
HEATPP_FORALL_KEYS(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
