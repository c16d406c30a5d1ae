#pragma once

#include <heatpp/comm/communicator.hpp>
#include <source_location>
#include <string>

namespace heatpp::detail {

/// The text, of any bytes, that rank 0 passes. Collective; counts as no call of the program's.
[[nodiscard]] std::string text_of_rank_0(const Communicator& comm, std::string text,
                                         std::source_location site = std::source_location::current());

}  // namespace heatpp::detail
