#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Which bit of a byte comes first.
enum class BitOrder { big, little };
/// Packs truth values along `axis`, or of the flattened array, into the bits of uint8, by default the first one
/// highest, and unpacks them. Along a split axis packbits cuts the bytes evenly, which is one exchange unless the bits
/// were cut there; unpackbits moves nothing.
[[nodiscard]] DNDarray packbits(const DNDarray& x, std::optional<int> axis = std::nullopt,
                                BitOrder order = BitOrder::big);
[[nodiscard]] DNDarray unpackbits(const DNDarray& x, std::optional<int> axis = std::nullopt,
                                  BitOrder order = BitOrder::big);
struct UnpackbitsOptions {
  std::optional<int> axis = std::nullopt;
  std::optional<std::int64_t> count = std::nullopt;  ///< number of bits; zeros are added if there are fewer
  BitOrder order = BitOrder::big;                    ///< a negative count omits that many at the end
};
[[nodiscard]] DNDarray unpackbits(const DNDarray& x, const UnpackbitsOptions& options);

}  // namespace heatpp
