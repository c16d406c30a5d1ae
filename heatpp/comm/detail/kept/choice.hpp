#pragma once

#include <functional>
#include <heatpp/comm/communicator.hpp>
#include <string>

namespace heatpp::detail {

/// Returns the word that `measure` finds best on rank 0, on all ranks; nothing if it throws. It measures once in a
/// process for each name; with HEATPP_CALIBRATION=<file> once for a host, and keeps it there. Collective: a broadcast.
[[nodiscard]] std::string kept_choice(const Communicator& comm, const std::string& name,
                                      const std::function<std::string()>& measure);

}  // namespace heatpp::detail
