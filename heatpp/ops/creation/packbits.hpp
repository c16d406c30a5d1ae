#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Which bit of a byte comes first.
enum class BitOrder { big, little };
/// Truth values along `axis`, or of the flattened array, as the bits of uint8, by default the first one highest, and
/// back. Of a split axis packbits cuts the bytes evenly, which is one exchange unless the bits were cut there;
/// unpackbits moves nothing.
[[nodiscard]] DNDarray packbits(const DNDarray& x, std::optional<int> axis = std::nullopt,
                                BitOrder order = BitOrder::big);
[[nodiscard]] DNDarray unpackbits(const DNDarray& x, std::optional<int> axis = std::nullopt,
                                  BitOrder order = BitOrder::big);
struct UnpackbitsOptions {
  std::optional<int> axis = std::nullopt;
  std::optional<std::int64_t> count = std::nullopt;  ///< how many bits: with zeros behind them if there are fewer
  BitOrder order = BitOrder::big;                    ///< negative counts leave so many out at the end
};
[[nodiscard]] DNDarray unpackbits(const DNDarray& x, const UnpackbitsOptions& options);

}  // namespace heatpp
