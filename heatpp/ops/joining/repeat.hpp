#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Each index repeated so often along `axis`; of the flattened array for nullopt, and for an array without axes, which
/// has axis 0 here. Local: blocks grow where they are. For large results repeat, tile and pad ask for memory as the
/// factories do. Throws ValueError for negative repeats and more than 2^63 - 1 indices.
[[nodiscard]] DNDarray repeat(const DNDarray& x, std::int64_t repeats, std::optional<int> axis = std::nullopt);
/// Index i repeated repeats[i] times, or repeats[0] if there is no other, which every rank gives alike.
[[nodiscard]] DNDarray repeat(const DNDarray& x, const std::vector<std::int64_t>& repeats,
                              std::optional<int> axis = std::nullopt);
struct RepeatOptions {
  std::optional<int> axis = std::nullopt;
};
template <class Repeats>
[[nodiscard]] DNDarray repeat(const DNDarray& x, const Repeats& repeats, const RepeatOptions& options) {
  return repeat(x, repeats, options.axis);
}
/// The whole array repeated so often along each axis, the last ones if there are fewer. Along the split,
/// which is cut evenly, one exchange, in which a rank gets once what it holds several times.
[[nodiscard]] DNDarray tile(const DNDarray& x, const std::vector<std::int64_t>& repeats);
/// The elements in C order, from the start again as often as needed, in another shape split along axis 0 if `x` is
/// split. Communicates as flatten, tile and reshape.
[[nodiscard]] DNDarray resize(const DNDarray& x, const Shape& shape);

}  // namespace heatpp
