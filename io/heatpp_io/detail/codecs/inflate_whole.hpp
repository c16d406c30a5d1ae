#pragma once

#include <cstddef>
#include <span>

namespace heatpp::io::detail {

/// Inflates a zlib stream, or a gzip file of one member, that fills `out` exactly; false for any other, and for damaged
/// ones. By libdeflate, in half of zlib's time, where it was there when the library was built. Threads may call it at
/// the same time.
[[nodiscard]] bool inflate_whole(std::span<const std::byte> stream, std::span<std::byte> out);

}  // namespace heatpp::io::detail
