#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Repeats each index `repeats` times along `axis`; in the flattened array for nullopt, and for an array without axes,
/// which has axis 0 here. Local: blocks grow in place. For large results repeat, tile and pad ask for memory as the
/// factories do. Throws ValueError for negative repeats and more than 2^63 - 1 indices.
[[nodiscard]] DNDarray repeat(const DNDarray& x, std::int64_t repeats, std::optional<int> axis = std::nullopt);
/// Repeats index i repeats[i] times, or all repeats[0] times if it is alone. Equal on every rank.
[[nodiscard]] DNDarray repeat(const DNDarray& x, const std::vector<std::int64_t>& repeats,
                              std::optional<int> axis = std::nullopt);
struct RepeatOptions {
  std::optional<int> axis = std::nullopt;
};
template <class Repeats>
[[nodiscard]] DNDarray repeat(const DNDarray& x, const Repeats& repeats, const RepeatOptions& options) {
  return repeat(x, repeats, options.axis);
}
/// Repeats the whole array along each axis; fewer numbers are for the last axes. The split is cut evenly, in one
/// exchange, in which a rank gets once what it holds several times.
[[nodiscard]] DNDarray tile(const DNDarray& x, const std::vector<std::int64_t>& repeats);
/// Returns the elements in C order, repeated from the start as needed, in another shape, split along axis 0 if `x` is
/// split. Communicates as flatten, tile and reshape.
[[nodiscard]] DNDarray resize(const DNDarray& x, const Shape& shape);

}  // namespace heatpp
