#pragma once

#include <functional>
#include <heatpp/comm/communicator.hpp>
#include <string>

namespace heatpp::io::detail {

/// Runs `look` on one rank, and returns its bytes on every rank: so one rank opens a file, and all know what it says.
/// An error is thrown on all ranks, with the same text. Collective: a broadcast of 256 bytes, and a second one of the
/// bytes that have no room in the first.
[[nodiscard]] std::string seen_by(int rank, const Communicator& comm, const std::function<std::string()>& look);

/// Works as seen_by for rank 0.
[[nodiscard]] inline std::string seen_by_first(const Communicator& comm, const std::function<std::string()>& look) {
  return seen_by(0, comm, look);
}

/// Works as seen_by_first for texts without zero bytes.
[[nodiscard]] std::vector<std::string> texts_seen_by_first(const Communicator& comm,
                                                           const std::function<std::vector<std::string>()>& look);

}  // namespace heatpp::io::detail
