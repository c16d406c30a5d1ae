#pragma once

#include <memory>
#include <string>

namespace heatpp {
class Communicator;
}

namespace heatpp::detail {

/// What the environment says about communication. It has to be equal on all ranks, but launchers need not hand it to
/// all: a communicator takes what rank 0 has when it is made from a host's, and again when a topology is made of it.
/// Its parts, and topologies of these, take its settings, because the program's rank 0 may not be among them.
struct Settings {
  std::string allreduce, topology, calibration, backend, trace;  ///< HEATPP_ALLREDUCE and so on; may be empty
  bool debug = false;                                            ///< HEATPP_DEBUG=collectives
  bool shared_memory = false;                                    ///< unless HEATPP_SHARED_MEMORY=off
  bool reproducible = false;                                     ///< HEATPP_REPRODUCIBLE=1
  double timeout = 0;                                            ///< HEATPP_TIMEOUT, or 0
};

/// Returns rank 0's environment as it is now. Collective.
[[nodiscard]] std::shared_ptr<const Settings> settings_of_rank_0(const Communicator& comm);

}  // namespace heatpp::detail
