#pragma once

#include <deque>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/roll_call.hpp>

namespace heatpp::detail {

/// After a time-out, the ranks that wait tell each other who is there. Each knows some at first itself alone, and tells
/// the ranks at distances 1, 2, 4, ... on both sides whenever it has heard of more. So what one knows reaches all that
/// wait, also past ranks that never come: with log2 P neighbors and a bit for each rank, instead of P messages.
class Census {
 public:
  Census(const Communicator& comm, const Fingerprint& mine);
  /// Messages to ranks that are missing may never end.
  ~Census();
  Census(const Census&) = delete;
  Census& operator=(const Census&) = delete;

  /// Waits for other ranks, up to a second. Returns whether all are there.
  [[nodiscard]] bool wait();
  /// Returns the ranks that have not answered, as text, or the first of many.
  [[nodiscard]] std::string missing() const;
  /// Throws CommError if ranks that are there say different things.
  void check() const { said_.check(said_.print.op); }

 private:
  void tell();
  [[nodiscard]] bool hear();
  [[nodiscard]] bool has(int rank) const;
  [[nodiscard]] bool all() const;

  struct Letter {
    std::vector<std::byte> content;
    std::vector<MPI_Request> requests;
  };
  Communicator comm_;
  Said said_;
  std::vector<std::uint64_t> present_;  // a bit for each rank
  std::deque<Letter> letters_;
};

/// Whether a rank of the communicator says that it waits no longer.
[[nodiscard]] bool somebody_gave_up(const Communicator& comm);

}  // namespace heatpp::detail
