#pragma once

#include <array>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>

namespace heatpp::detail {

/// The message in which a rank says what it is about to do.
struct Fingerprint {
  char op[32] = {};
  char site[160] = {};
  char caller[160] = {};        ///< the program's own line, if it is known
  char plan[96] = {};           ///< the first characters of the plan
  std::uint64_t plan_hash = 0;  ///< of the whole plan
  std::int64_t count = 0;
  std::optional<Dtype> dtype;
  CallDetail detail;

  Fingerprint() = default;
  Fingerprint(const Call& call, const std::source_location& at, std::string_view by);
  [[nodiscard]] bool agrees(const Fingerprint& other) const;
  [[nodiscard]] std::string text() const;
};

/// What some ranks say: the lowest of them, and the lowest one that says something else than it.
struct Said {
  int lowest = -1, other = -1;  ///< -1: none
  Fingerprint print, other_print;

  Said() = default;
  Said(int rank, const Fingerprint& mine) : lowest(rank), print(mine) {}
  /// Adds what other ranks say. The order does not matter, and a rank may say the same twice.
  void add(const Said& more);
  /// Throws CommError if two ranks say different things.
  void check(const char* op) const;
};

/// Tells all ranks what each says. In round k a rank tells the rank 2^k after it all that it has heard so far (Hensgen,
/// Finkel & Manber 1988), so all know after log2 P messages each. The calls of a communicator follow one another.
class RollCall {
 public:
  RollCall(const Communicator& comm, const Fingerprint& mine) : comm_(comm), said_(comm.rank(), mine) {}
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  /// Goes on without waiting. Returns whether all ranks have been heard.
  [[nodiscard]] bool ended();
  /// Throws CommError, after the end, if ranks say different things.
  void check() const { said_.check(said_.print.op); }

 private:
  void begin_round();

  Communicator comm_;
  Said said_, sent_, heard_;
  int distance_ = 1;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  bool under_way_ = false;
};

}  // namespace heatpp::detail
