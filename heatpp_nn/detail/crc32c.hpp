#pragma once

#include <cstdint>
#include <span>

namespace heatpp::nn::detail {

/// Returns the CRC-32C (Castagnoli) of `data`, continued from the checksum of the preceding bytes.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t before = 0);

}  // namespace heatpp::nn::detail
