#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Cuts `x` along another axis, or replicates it (`std::nullopt`). From replicated: local. To replicated: every rank
/// receives all other blocks. Between axes: each element moves at most once, in one exchange, with a few MiB of extra
/// memory. Collective. Throws IndexError for a bad axis. If a rank has no memory for a new block of 64 MiB or more, all
/// ranks throw Error, for which one allreduce of 8 bytes is sent; for a smaller block only that rank throws.
[[nodiscard]] DNDarray resplit(const DNDarray& x, std::optional<int> split);

/// Cuts `x` evenly over a grid of ranks: `regrid(x, {2, 2, 1})`, `regrid(x, balanced_grid)`. A grid that cuts one axis
/// is a split. From replicated: local. Otherwise each element moves at most once, in one exchange between ranks whose
/// blocks meet. docs/functions.md tells which functions take a grid as it is; others recut it to one axis. Collective.
/// Throws ValueError if the product of the grid is not the number of ranks.
[[nodiscard]] DNDarray regrid(const DNDarray& x, const Grid& grid);

/// Cuts `x` evenly along its split axis, or along the axes of its grid. Only elements on the wrong rank move.
/// Collective.
[[nodiscard]] DNDarray balance(const DNDarray& x);

/// Cuts `x` so that rank r holds counts[r] indices of the split axis. Collective: one all-reduce of 16 bytes besides
/// what moves. Throws ValueError on all ranks if `x` is not split, or if the counts do not add up to the extent or
/// differ by rank.
[[nodiscard]] DNDarray redistribute(const DNDarray& x, const std::vector<std::int64_t>& counts);

/// Brings all of `x` to one rank and leaves the other blocks empty. A replicated array and one on a
/// grid become cut along axis 0; of a replicated one nothing moves. Collective. Throws ValueError for an array without
/// axes and for a rank that does not exist.
[[nodiscard]] DNDarray collect(const DNDarray& x, int rank = 0);

/// Replaces `x` by the new array. Throws ValueError for adopted memory, which stays as the host cut it.
void resplit_(DNDarray& x, std::optional<int> split);
void regrid_(DNDarray& x, const Grid& grid);
void balance_(DNDarray& x);
void redistribute_(DNDarray& x, const std::vector<std::int64_t>& counts);
void collect_(DNDarray& x, int rank = 0);

/// What happens if operands with different layouts meet: the cheaper one moves, or all ranks throw ValueError. This
/// concerns neither a function that recuts one array, or arrays in one layout, by its contract, nor what it fetches by
/// position or gathers.
enum class Redistribution { allow, forbid };
void set_redistribution(Redistribution policy);

/// What this rank has communicated since the start of the program.
struct CommReport {
  std::int64_t calls = 0;                ///< communication calls
  std::int64_t bytes = 0;                ///< payload handed to them
  std::int64_t redistributions = 0;      ///< operands that moved because layouts differed
  std::int64_t redistributed_bytes = 0;  ///< bytes of these, over all ranks
};
[[nodiscard]] CommReport comm_report();

}  // namespace heatpp
