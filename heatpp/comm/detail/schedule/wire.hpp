#pragma once

#include <cstddef>
#include <heatpp/comm/wire.hpp>

namespace heatpp::detail {

/// Writes the n values as wire_bytes(wire, n) bytes. A block with a value that is not finite becomes NaN;
/// values above 0.8 of the largest float32 may become infinite.
void encode(Wire wire, const float* values, std::int64_t n, std::byte* out);
void decode(Wire wire, const std::byte* in, std::int64_t n, float* values);

}  // namespace heatpp::detail
