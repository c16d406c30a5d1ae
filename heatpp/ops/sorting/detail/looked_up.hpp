#pragma once

#include <heatpp/ops/sorting/detail/keys.hpp>
#include <optional>

namespace heatpp::detail {

inline constexpr std::int64_t few_keys = 4096;  ///< keys that are searched in the first-level cache

/// Returns whether each element of a block has one of few rising keys, or, for whole numbers, of those in a short
/// range; nullopt for other keys. NaN has no such key. One pass.
template <class T>
[[nodiscard]] std::optional<at::Tensor> looked_up(const at::Tensor& elements, const Rows<KeyOf<T>>& wanted);

}  // namespace heatpp::detail
