#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Starts a Communicator::exchange without waiting. The blocks belong to the request until it is waited for. Several
/// exchanges may be under way at once.
[[nodiscard]] Request iexchange(const Communicator& comm, std::span<const ConstBlock> send,
                                std::span<const Block> receive,
                                const std::source_location& site = std::source_location::current());

}  // namespace heatpp::detail
