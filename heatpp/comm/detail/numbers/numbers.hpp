#pragma once

#include <array>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>

/// One number of each rank. The schedules hold log2 P steps and are the same for all calls.
namespace heatpp::detail {

// First numbers of keys of the cache, beside those of parts.cpp.
inline constexpr std::int64_t placed_numbers = -3, gathered_numbers = -4;

/// Two numbers: the sum over the ranks before this one, and the sum over all. At first 0 and the number of this rank.
using PlaceNumbers = std::array<std::int64_t, 2>;
[[nodiscard]] constexpr PlaceNumbers place_numbers(std::int64_t count) { return {0, count}; }

/// Turns PlaceNumbers into those sums. At distances 1, 2, 4, ... pairs of ranks exchange their sums. If the number of
/// ranks is no power of two, the first ranks form pairs, of which one rank stands for both.
[[nodiscard]] Schedule place_schedule(int ranks, int rank);
/// Spreads number r of rank r to all (Bruck et al. 1997): the ranks hold 1, 2, 4, ... numbers, and send those to the
/// rank as far before.
[[nodiscard]] Schedule gather_schedule(int ranks, int rank);

/// These start the collectives. The numbers belong to the operation until its end.
[[nodiscard]] std::unique_ptr<Operation> start_place(const Communicator& comm, PlaceNumbers& numbers);
[[nodiscard]] std::unique_ptr<Operation> start_gather_numbers(const Communicator& comm, std::span<std::int64_t> all);
/// Returns the number of each rank, in rank order. Collective; it is not counted as a call of the program.
[[nodiscard]] std::vector<std::int64_t> numbers_of_ranks(const Communicator& comm, std::int64_t mine);

}  // namespace heatpp::detail
