#pragma once

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

/// Fingerprints on their way from and to all other ranks. Ones that are missing at the end are given up.
class RollCall {
 public:
  RollCall(const Communicator& comm, const Fingerprint& mine, int tag);
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  [[nodiscard]] bool ended();
  /// Returns the ranks that have not answered, as text.
  [[nodiscard]] std::string missing();
  /// Throws CommError, after the end, if ranks say different things.
  void check() const;

 private:
  Communicator comm_;
  Fingerprint mine_;
  std::vector<Fingerprint> all_;
  std::vector<MPI_Request> requests_;  // receives, then sends
};

}  // namespace heatpp::detail
