#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// `x` cut along another axis, or replicated (`std::nullopt`). From replicated: local. To
/// replicated: every rank receives all other blocks. Between axes: each element moves at most once, in one exchange,
/// with a few MiB of extra memory. Collective. Throws IndexError for a bad axis, and Error on all ranks where one has
/// no memory for a new block of 64 MiB or more (smaller ones: on that rank); one allreduce of 8 bytes tells.
[[nodiscard]] DNDarray resplit(const DNDarray& x, std::optional<int> split);

/// `x` cut evenly along its split axis. Only what lies on the wrong rank moves. Collective.
[[nodiscard]] DNDarray balance(const DNDarray& x);

/// `x` cut so that rank r holds counts[r] indices of the split axis. Collective: one all-reduce of 16 bytes besides
/// what moves. Throws ValueError on all ranks where `x` is not split, the counts do not add up to the extent, or differ
/// by rank.
[[nodiscard]] DNDarray redistribute(const DNDarray& x, const std::vector<std::int64_t>& counts);

/// All of `x` on one rank, the others' blocks empty; a replicated array is cut along axis 0, for which nothing moves.
/// Collective. Throws ValueError for an array without axes and a rank that there is not.
[[nodiscard]] DNDarray collect(const DNDarray& x, int rank = 0);

/// `x` becomes the new array. Throw ValueError for adopted memory, which stays as the host cut it.
void resplit_(DNDarray& x, std::optional<int> split);
void balance_(DNDarray& x);
void redistribute_(DNDarray& x, const std::vector<std::int64_t>& counts);
void collect_(DNDarray& x, int rank = 0);

/// What happens where operands with different layouts meet: the cheaper one moves, or a ValueError is thrown on all
/// ranks. What a function of one array, or of arrays in one layout, recuts by its contract, and what it fetches by
/// position or gathers, does not count and is not refused.
enum class Redistribution { allow, forbid };
void set_redistribution(Redistribution policy);

/// What this rank has communicated since the start of the program.
struct CommReport {
  std::int64_t calls = 0;                ///< communication calls
  std::int64_t bytes = 0;                ///< payload handed to them
  std::int64_t redistributions = 0;      ///< operands that moved because layouts differed
  std::int64_t redistributed_bytes = 0;  ///< what that cost, over all ranks
};
[[nodiscard]] CommReport comm_report();

}  // namespace heatpp
