#pragma once

#include <functional>
#include <heatpp/comm/communicator.hpp>
#include <string>

namespace heatpp::detail {

/// What `measure` finds to be best on rank 0, a word, on all ranks; nothing where it throws. Measured once in a process
/// for each name; with HEATPP_CALIBRATION=<file> once for a host, and kept there. Collective: a broadcast.
[[nodiscard]] std::string kept_choice(const Communicator& comm, const std::string& name,
                                      const std::function<std::string()>& measure);

}  // namespace heatpp::detail
