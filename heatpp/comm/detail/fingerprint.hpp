#pragma once

#include <heatpp/comm/communicator.hpp>
#include <source_location>

namespace heatpp::detail {

/// A collective as one rank calls it; counts and the like are those that all ranks have to agree on.
struct Call {
  const char* op;
  std::int64_t count = 0;
  Dtype dtype = Dtype::bool_;
  int detail = 0;  ///< the ReduceOp, or the root
};

/// With HEATPP_DEBUG=collectives, compares the call with those of the other ranks, which costs a small message to each.
/// Throws CommError on every rank that calls, where the calls differ, or ranks are missing after HEATPP_TIMEOUT seconds
/// (30 unless set). Does nothing otherwise.
void check_collective(const Communicator& comm, const Call& call, const std::source_location& site);

}  // namespace heatpp::detail
