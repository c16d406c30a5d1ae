#pragma once

#include <heatpp/core/promotion.hpp>

namespace heatpp::detail {

/// Writes n elements that lie `stride` elements apart as a contiguous run of another dtype.
using Converter = void (*)(const void* from, std::int64_t stride, void* to, std::int64_t n);
[[nodiscard]] Converter converter(Dtype from, Dtype to);

}  // namespace heatpp::detail
