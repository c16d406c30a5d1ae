#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <source_location>

namespace heatpp::detail {

/// A collective as one rank calls it; counts and the like are those that all ranks have to agree on.
struct Call {
  const char* op;
  std::int64_t count = 0;
  Dtype dtype = Dtype::bool_;
  int detail = 0;         ///< the ReduceOp, or the root
  std::string plan = {};  ///< how it will be carried out, where calls are compared
};

/// Notes the call where waiting is limited (deadline.hpp). With HEATPP_DEBUG=collectives, compares it with those of the
/// other ranks, which costs a small message to each; throws CommError on every rank that calls, where the calls differ,
/// or ranks are missing after HEATPP_TIMEOUT seconds (30 unless set). Does nothing otherwise.
void check_collective(const Communicator& comm, const Call& call, const std::source_location& site);

/// Whether collectives of these ranks are compared.
[[nodiscard]] bool debugging(const Communicator& comm);
/// The numbers as a plan's text, where calls are compared.
[[nodiscard]] std::string plan_of(const Communicator& comm, std::span<const std::int64_t> counts);

/// The same without waiting, while debugging: the operation is started when the calls are found to agree, in the order
/// of the calls, and throws where they differ.
using MakeOperation = std::function<std::unique_ptr<Operation>()>;
[[nodiscard]] std::unique_ptr<Operation> checked(const Communicator& comm, const Call& call,
                                                 const std::source_location& site, MakeOperation make);
}  // namespace heatpp::detail
