#pragma once

#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>

namespace heatpp::detail {

/// What one rank says it is about to do, as it travels.
struct Fingerprint {
  char op[32] = {};
  char site[160] = {};
  char caller[160] = {};        ///< the program's own line, where it is known
  char plan[96] = {};           ///< as much of it as has room
  std::uint64_t plan_hash = 0;  ///< of all of it
  std::int64_t count = 0;
  std::optional<Dtype> dtype;
  CallDetail detail;

  Fingerprint() = default;
  Fingerprint(const Call& call, const std::source_location& at, std::string_view by);
  [[nodiscard]] bool agrees(const Fingerprint& other) const;
  [[nodiscard]] std::string text() const;
};

/// Fingerprints on their way from and to all other ranks. What has not come when it ends is given up.
class RollCall {
 public:
  RollCall(const Communicator& comm, const Fingerprint& mine, int tag);
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  [[nodiscard]] bool ended();
  /// The ranks that have not answered, as text.
  [[nodiscard]] std::string missing();
  /// Throws CommError, once it has ended, where ranks say different things.
  void check() const;

 private:
  Communicator comm_;
  Fingerprint mine_;
  std::vector<Fingerprint> all_;
  std::vector<MPI_Request> requests_;  // receptions, then sends
};

}  // namespace heatpp::detail
