#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operand.hpp>

namespace heatpp {

using Arrays = std::vector<DNDarray>;

/// The arrays one behind another along `axis`, in their common dtype. Where they are split along another axis the first
/// one's cut stays, and others move to it; where they are split along `axis` itself the result is cut evenly, and each
/// element moves at most once. Throws ValueError for other extents that differ, IndexError.
[[nodiscard]] DNDarray concatenate(const Arrays& arrays, int axis = 0);
/// concatenate of the flattened arrays for nullopt.
[[nodiscard]] DNDarray concat(const Arrays& arrays, std::optional<int> axis = 0);
/// Arrays of one shape along a new axis, communicating as concatenate.
[[nodiscard]] DNDarray stack(const Arrays& arrays, int axis = 0);
/// concatenate along axis 1 (of vectors 0), 0, and 2, after atleast_1d, atleast_2d and atleast_3d.
[[nodiscard]] DNDarray hstack(const Arrays& arrays);
[[nodiscard]] DNDarray vstack(const Arrays& arrays);
[[nodiscard]] DNDarray dstack(const Arrays& arrays);
[[nodiscard]] inline DNDarray row_stack(const Arrays& arrays) { return vstack(arrays); }
/// Vectors as columns beside matrices.
[[nodiscard]] DNDarray column_stack(const Arrays& arrays);
/// Rows of blocks: each row joined along the last axis, the rows along the one before.
[[nodiscard]] DNDarray block(const std::vector<Arrays>& rows);
/// `values` behind `x`; both flattened for nullopt.
[[nodiscard]] DNDarray append(const DNDarray& x, const DNDarray& values, std::optional<int> axis = std::nullopt);
/// `values` before `position` along `axis`.
[[nodiscard]] DNDarray insert(const DNDarray& x, std::int64_t position, const DNDarray& values, int axis = 0);
/// Without the indices at `positions` along `axis`. An array split there is left uneven; nothing moves.
[[nodiscard]] DNDarray delete_(const DNDarray& x, const std::vector<std::int64_t>& positions, int axis = 0);

/// Shifted by `shift` along `axis`, what leaves one end entering at the other; of the flattened array for nullopt. The
/// layout stays; along the split what changes ranks moves once.
[[nodiscard]] DNDarray roll(const DNDarray& x, std::int64_t shift, std::optional<int> axis = std::nullopt);
/// Each index repeated so often along `axis`; of the flattened array for nullopt. Local: blocks grow where they are.
[[nodiscard]] DNDarray repeat(const DNDarray& x, std::int64_t repeats, std::optional<int> axis = std::nullopt);
/// Index i repeated repeats[i] times, which every rank gives alike.
[[nodiscard]] DNDarray repeat(const DNDarray& x, const std::vector<std::int64_t>& repeats, int axis);
/// The whole array repeated so often along each axis, the last ones if there are fewer. Along the split each element is
/// sent once for each copy.
[[nodiscard]] DNDarray tile(const DNDarray& x, const std::vector<std::int64_t>& repeats);
/// The elements in C order, from the start again as often as needed, in another shape split along axis 0 if `x` is
/// split.
[[nodiscard]] DNDarray resize(const DNDarray& x, const Shape& shape);

/// What stands around a padded array: a value, the nearest element, the array mirrored at its last element or behind
/// it, its other end, or whatever was in memory.
enum class PadMode { constant, edge, reflect, symmetric, wrap, empty };
struct PadOptions {
  PadMode mode = PadMode::constant;
  Scalar value = 0;  ///< of the mode constant
};
/// `x` with before and after indices added along each axis; one pair for all axes if there is one. Along the split axis
/// the first rank's and the last one's blocks grow; nothing else moves than the elements that are repeated there.
/// Throws ValueError for negative widths and where there is nothing to repeat.
using PadWidths = std::vector<std::pair<std::int64_t, std::int64_t>>;
[[nodiscard]] DNDarray pad(const DNDarray& x, const PadWidths& widths, const PadOptions& options = {});

}  // namespace heatpp
