#pragma once

#include <cstddef>
#include <cstdint>
#include <heatpp/comm/topology.hpp>

namespace heatpp::detail {

/// Returns the bytes that n float32 values take in the format.
[[nodiscard]] std::int64_t wire_bytes(Dtype wire, std::int64_t n);
void encode(Dtype wire, const float* values, std::int64_t n, std::byte* out);
void decode(Dtype wire, const std::byte* in, std::int64_t n, float* values);

}  // namespace heatpp::detail
