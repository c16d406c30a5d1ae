#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp::detail {

/// Integer arrays that index some axes of an array together, as NumPy's advanced indices do.
struct Positions {
  std::vector<int> axes;         ///< axes of the indexed array, rising
  std::vector<DNDarray> arrays;  ///< one array for each axis; they broadcast
  int place = 0;                 ///< place of their axes among the axes that remain
  bool in_lines = false;         ///< whether only positions in one line along an axis can name an element twice
};

/// Throws IndexError for positions that are not whole numbers, CommError for another communicator.
void check_positions(const char* op, const DNDarray& x, const DNDarray& positions);

/// Returns a position beyond 0 .. extent - 1, if there is one. One allreduce if they are split.
[[nodiscard]] std::optional<std::int64_t> position_beyond(const DNDarray& positions, std::int64_t extent);
/// Throws E for such a position, on all ranks.
template <class E = IndexError>
void check_range(const char* op, const DNDarray& positions, std::int64_t extent) {
  if (const auto position = position_beyond(positions, extent))
    raise<E>(op, "got position {}; expected 0 <= position < {}", *position, extent);
}

/// Replaces negative positions. A bad position on one rank is an error on all, except, as in NumPy, if the arrays of
/// positions broadcast to an empty one.
void sanitize_positions(const char* op, const DNDarray& x, Positions& positions);

/// Returns the elements at `positions`. If the split axis is not indexed, or x is replicated: local, except that
/// split positions of a split array are sent to all ranks. Otherwise each row is sent once from its owner to the rank
/// that needs it. The result is cut as the positions are; if every rank holds all positions, it is cut evenly along
/// their first axis longer than 1, and only the rows are communicated. Positions as those of ix_ are taken along one
/// axis after another. Throws IndexError on all ranks for a position out of range and positions that are not whole
/// numbers.
[[nodiscard]] DNDarray take_positions(const char* op, const DNDarray& x, Positions positions);

/// Writes `value`, broadcast to the shape of take_positions, to these places of `x`. If positions repeat, the last one
/// counts. The caller owns the memory of `x`. Throws as check_value, too.
void put_positions(const char* op, const DNDarray& x, Positions positions, const Operand& value);

}  // namespace heatpp::detail
