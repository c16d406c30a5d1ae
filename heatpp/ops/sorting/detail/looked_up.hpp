#pragma once

#include <heatpp/ops/sorting/detail/keys.hpp>
#include <optional>

namespace heatpp::detail {

inline constexpr std::int64_t few_keys = 4096;  ///< that are looked for in the first-level cache

/// Whether each element of a block has one of few rising keys, or, of whole numbers, of those in a short range; nothing
/// for other keys. None is that of NaN. One pass.
template <class T>
[[nodiscard]] std::optional<at::Tensor> looked_up(const at::Tensor& elements, const Rows<KeyOf<T>>& wanted);

}  // namespace heatpp::detail
