#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp::detail {

/// Integer arrays that index some axes of an array together, as NumPy's advanced indices do.
struct Positions {
  std::vector<int> axes;         ///< of the indexed array, rising
  std::vector<DNDarray> arrays;  ///< one for each axis; they broadcast
  int place = 0;                 ///< where their axes stand among the axes that are left
  bool in_lines = false;         ///< whether only positions in one line along an axis can mean the same element
};

/// Throws IndexError for positions that are not whole numbers, CommError for those on another communicator.
void check_positions(const char* op, const DNDarray& x, const DNDarray& positions);

/// A position beyond 0 .. extent - 1, if there is one. One allreduce if they are split.
[[nodiscard]] std::optional<std::int64_t> position_beyond(const DNDarray& positions, std::int64_t extent);
/// Throws E for it, on all ranks.
template <class E = IndexError>
void check_range(const char* op, const DNDarray& positions, std::int64_t extent) {
  if (const auto position = position_beyond(positions, extent))
    raise<E>(op, "got position {}; expected 0 <= position < {}", *position, extent);
}

/// Turns negative positions into those that they mean. A bad position on one rank is an error on all, but, as in NumPy,
/// not where arrays of positions meet in nothing.
void sanitize_positions(const char* op, const DNDarray& x, Positions& positions);

/// The elements at `positions`. Where the split axis is not indexed, or x is replicated: local, but that split
/// positions of a split array become known to all ranks. Otherwise each row is sent once from its owner to where the
/// result needs it; the result is cut as the positions are, and evenly along their first axis longer than 1 if every
/// rank holds them all, in which case nothing but the rows is communicated. Positions as those of ix_ are taken along
/// one axis after the other. Throws IndexError on all ranks for a position out of range and positions that are not
/// whole numbers.
[[nodiscard]] DNDarray take_positions(const char* op, const DNDarray& x, Positions positions);

/// Writes `value`, broadcast to the shape that take_positions gives, to these places of `x`; where positions repeat,
/// the last one counts. The caller owns the memory of `x`. Throws as check_value, too.
void put_positions(const char* op, const DNDarray& x, Positions positions, const Operand& value);

}  // namespace heatpp::detail
