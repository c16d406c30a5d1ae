#pragma once

#include <array>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <heatpp/comm/detail/schedule/tree.hpp>

/// One number of each rank. The schedules hold log2 P steps and are the same for all calls.
namespace heatpp::detail {

// First numbers of keys of the cache, beside those of parts.cpp.
inline constexpr std::int64_t placed_numbers = -3, gathered_numbers = -4, gathered_by_levels = -5;

/// Two numbers: the sum over the ranks before this one, and the sum over all. At first 0 and the number of this rank.
using PlaceNumbers = std::array<std::int64_t, 2>;
[[nodiscard]] constexpr PlaceNumbers place_numbers(std::int64_t count) { return {0, count}; }

/// Turns PlaceNumbers into those sums. At distances 1, 2, 4, ... pairs of ranks exchange their sums. If the number of
/// ranks is no power of two, the first ranks form pairs, of which one rank stands for both.
[[nodiscard]] Schedule place_schedule(int ranks, int rank);
/// Spreads number r of rank r to all, level by level from the innermost out. `extents` says how many parts the parts of
/// each level consist of; ranks with consecutive numbers lie side by side. On each level ranks that have the same place
/// in their parts hold the numbers of 1, 2, 4, ... parts, and send those to the part as far before (Bruck et al. 1997).
/// So only the rounds of a level wait for its network.
[[nodiscard]] Schedule gather_schedule(std::span<const std::size_t> extents, int rank);
/// Returns the extents of a machine for gather_schedule; those of ranks on one level if its parts differ or its ranks
/// do not lie side by side.
[[nodiscard]] std::vector<std::size_t> extents_of_consecutive(const Tree& machine);

/// These start the collectives. The numbers belong to the operation until its end.
[[nodiscard]] std::unique_ptr<Operation> start_place(const Communicator& comm, PlaceNumbers& numbers);
[[nodiscard]] std::unique_ptr<Operation> start_gather_numbers(const Communicator& comm, std::span<std::int64_t> all);
/// Returns the number of each rank, in rank order. Collective; it is not counted as a call of the program.
[[nodiscard]] std::vector<std::int64_t> numbers_of_ranks(const Communicator& comm, std::int64_t mine);

}  // namespace heatpp::detail
