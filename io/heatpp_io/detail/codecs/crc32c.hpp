#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heatpp::io::detail {

/// Returns the checksum CRC-32C of RFC 3720, which Zarr's codec crc32c uses. It takes eight bytes at a time (Kounavis
/// and Berry, ISCC 2005).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace heatpp::io::detail
