#include <heatpp/ops/sorting/detail/looked_up.hpp>

#include <heatpp/ops/operands/detail/bisect.hpp>
#include <heatpp/ops/sorting/detail/distinct.hpp>

#include <ATen/Dispatch.h>
#include <algorithm>
#include <array>

namespace heatpp::detail {
namespace {

/// Finds whether keys are among a few rising ones.
template <class K>
void find_among(std::span<const K> keys, const Rows<K>& wanted, bool* found) {
  constexpr std::int64_t fewest = 16;  // by linear search
  const auto n = wanted.size();
  if (n > fewest) {
    std::ranges::transform(keys, found, [&](K key) {
      const auto place = count_before(wanted.data(), n, [key](K other) { return other < key; });
      return place < n && wanted[place] == key;
    });
    return;
  }
  std::fill_n(found, keys.size(), false);
  for (const auto key : wanted)
    for (std::size_t i = 0; i < keys.size(); ++i) found[i] |= keys[i] == key;
}

}  // namespace

template <class T>
std::optional<at::Tensor> looked_up(const at::Tensor& elements, const Rows<KeyOf<T>>& wanted) {
  using K = KeyOf<T>;
  auto result = at::empty(elements.sizes(), at::kBool);
  auto* found = result.data_ptr<bool>();
  const auto block = elements.cpu().contiguous();
  const std::span in(block.const_data_ptr<T>(), static_cast<std::size_t>(block.numel()));
  const auto n = wanted.size();
  if constexpr (std::is_integral_v<T>) {
    const K low = n > 0 ? wanted[0] : 0, width = n > 0 ? wanted[n - 1] - low : 0;
    if (static_cast<std::uint64_t>(width) < in.size() + 16 * few_keys) {
      std::vector<std::uint8_t> flags(static_cast<std::size_t>(width) + 1);
      for (const auto key : wanted) flags[static_cast<std::size_t>(key - low)] = 1;
      std::ranges::transform(in, found, [&](T value) {
        const auto place = static_cast<K>(Keys<T>::of(value) - low);
        return place <= width && flags[static_cast<std::size_t>(place)];
      });
      return result;
    }
  }
  if (n > few_keys) return std::nullopt;
  std::array<K, 1024> keys;
  for (std::size_t first = 0; first < in.size(); first += keys.size()) {
    const auto part = in.subspan(first, std::min(keys.size(), in.size() - first));
    std::ranges::transform(part, keys.begin(), set_key<T>);
    find_among<K>({keys.data(), part.size()}, wanted, found + first);
  }
  return result;
}

#define HEATPP_INSTANTIATE(T, name) \
  template std::optional<at::Tensor> looked_up<T>(const at::Tensor&, const Rows<KeyOf<T>>&);
AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, HEATPP_INSTANTIATE)
AT_FORALL_COMPLEX_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
