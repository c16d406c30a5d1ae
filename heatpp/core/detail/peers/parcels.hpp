#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Records of `width` whole numbers each, one after another. The first number of a record is the rank that gets it.
struct Parcels {
  std::size_t width;
  std::vector<std::int64_t> numbers;
  [[nodiscard]] std::size_t count() const { return numbers.size() / width; }
  [[nodiscard]] std::span<const std::int64_t> record(std::size_t i) const {
    return std::span(numbers).subspan(i * width, width);
  }
};

/// One round of a delivery. A range of ranks becomes two halves, and each rank sends what is for the other half to one
/// rank of it.
struct ParcelRound {
  int to = -1;              ///< -1: none
  std::vector<int> from;    ///< one rank, or none or two if the halves differ in size
  int first = 0, last = 0;  ///< the ranks of the half that this rank is in
};

/// Returns the rounds of a delivery, ceil(log2 P) on every rank. Pure.
[[nodiscard]] std::vector<ParcelRound> parcel_rounds(int ranks, int rank);

/// Removes from `parcels` what is not for the ranks first to before last, and returns it. Pure.
[[nodiscard]] Parcels take_others(Parcels& parcels, int first, int last);

/// Returns the records of all ranks, in the order of these. Collective: two allgathers.
[[nodiscard]] Parcels gathered(const Parcels& parcels, const Communicator& comm);

/// Sends each record to its rank in rounds. Returns the records for this rank, in no order. No rank has to know who has
/// something for it. Collective: 2 messages of a rank in each of ceil(log2 P) rounds (the crystal router of Fox et al.,
/// Solving Problems on Concurrent Processors, 1988). A record travels at most once in each round.
[[nodiscard]] Parcels delivered_in_rounds(Parcels parcels, const Communicator& comm);

/// Does what delivered_in_rounds does; up to 8 ranks, for which two collectives are faster, by `gathered`.
[[nodiscard]] Parcels delivered(Parcels parcels, const Communicator& comm);

}  // namespace heatpp::detail
