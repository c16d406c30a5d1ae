#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <source_location>

namespace heatpp::detail {

/// How ranks reduce, or which one is the root.
class CallDetail {
 public:
  CallDetail() = default;
  CallDetail(ReduceOp op) : kind_(reduction), number_(static_cast<int>(op)) {}
  CallDetail(int root) : kind_(root_rank), number_(root) {}
  [[nodiscard]] std::string text() const;
  friend bool operator==(const CallDetail&, const CallDetail&) = default;

 private:
  enum { nothing, reduction, root_rank } kind_ = nothing;
  int number_ = 0;
};

/// A collective as one rank calls it; counts and the like are those that all ranks have to agree on.
struct Call {
  const char* op;
  std::int64_t count = 0;
  std::optional<Dtype> dtype = std::nullopt;  ///< of the elements that are counted; nullopt: none are
  CallDetail detail = {};
  std::string plan = {};  ///< how it will be carried out, where calls are compared
};

/// Notes the call where waiting is limited (deadline.hpp). With HEATPP_DEBUG=collectives, compares it with those of the
/// other ranks, which costs a small message to each; throws CommError on every rank that calls, where the calls differ,
/// or ranks are missing after HEATPP_TIMEOUT seconds (30 unless set). Throws CommError once MPI has ended. Does nothing
/// otherwise.
void check_collective(const Communicator& comm, const Call& call, const std::source_location& site);

/// Where collectives are compared, compares what `text` says of arguments that all ranks have to have alike, as if it
/// were a call of its own. Does nothing otherwise.
void expect_alike(const Communicator& comm, const char* op, const std::function<std::string()>& text,
                  const std::source_location& site = std::source_location::current());

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
