#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// As Communicator::exchange, without waiting: the blocks belong to the request until it is waited for. Several may be
/// under way at once.
[[nodiscard]] Request iexchange(const Communicator& comm, std::span<const ConstBlock> send,
                                std::span<const Block> receive,
                                const std::source_location& site = std::source_location::current());

}  // namespace heatpp::detail
