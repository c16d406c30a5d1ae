#pragma once

#include <cstddef>
#include <span>

namespace heatpp::io::detail {

/// Inflates a zlib stream, or a gzip file of one member, that fills `out` exactly. Returns false for others and for
/// damaged ones. If libdeflate was there at build time, it is used, which takes half the time of zlib. Several threads
/// may call it at the same time.
[[nodiscard]] bool inflate_whole(std::span<const std::byte> stream, std::span<std::byte> out);

}  // namespace heatpp::io::detail
