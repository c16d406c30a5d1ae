#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// A block for a rank, or from it.
template <class B>
struct PeerBlock {
  int rank;
  B block;
};
using Sends = std::vector<PeerBlock<ConstBlock>>;
using Receives = std::vector<PeerBlock<Block>>;

/// Does what Communicator::exchange does, for the ranks in the lists, each at most once; others get and send nothing.
/// So it takes memory and time for these ranks only.
void exchange_with(const Communicator& comm, Sends send, Receives receive,
                   const std::source_location& site = std::source_location::current());

/// Does what exchange_with does, if most ranks have something for most others. `most`, equal on all ranks, is the
/// number of bytes that the busiest rank sends or gets at most. Small blocks go by the nodes in two hops, so that a
/// rank sends fewer messages (two_hops.hpp).
void exchange_among_all(const Communicator& comm, Sends send, Receives receive, std::int64_t most,
                        const std::source_location& site = std::source_location::current());

/// Starts what exchange_with does without waiting. The blocks belong to the request until it is waited for. Several
/// exchanges may be under way at once.
[[nodiscard]] Request iexchange(const Communicator& comm, Sends send, Receives receive,
                                const std::source_location& site = std::source_location::current());

}  // namespace heatpp::detail
