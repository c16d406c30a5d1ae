#pragma once

#include <heatpp/comm/communicator.hpp>
#include <source_location>
#include <string>

namespace heatpp::detail {

/// Returns the text, any bytes, that rank 0 passes. Collective; does not count as a call of the program.
[[nodiscard]] std::string text_of_rank_0(const Communicator& comm, std::string text,
                                         std::source_location site = std::source_location::current());

}  // namespace heatpp::detail
