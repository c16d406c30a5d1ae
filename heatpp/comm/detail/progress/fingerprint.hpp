#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <source_location>

namespace heatpp::detail {

/// The operation of a reduction, or the root.
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

/// A collective as one rank calls it, with the counts that all ranks have to agree on.
struct Call {
  const char* op;
  std::int64_t count = 0;
  std::optional<Dtype> dtype = std::nullopt;  ///< dtype of the counted elements, if there are any
  CallDetail detail = {};
  std::string plan = {};  ///< how it will be carried out, if calls are compared
};

/// Notes the call if calls are noted (deadline.hpp). If HEATPP_DEBUG=collectives is set, compares it with the calls
/// of the other ranks, which costs log2 P small messages. Throws CommError on every rank that calls if the calls
/// differ, or if ranks are missing after HEATPP_TIMEOUT seconds (30 unless set). Throws CommError once MPI has ended.
/// Does nothing otherwise.
void check_collective(const Communicator& comm, const Call& call, const std::source_location& site);

/// If collectives are compared, compares `text`, which describes arguments that all ranks must have alike, as a call of
/// its own. Does nothing otherwise.
void expect_alike(const Communicator& comm, const char* op, const std::function<std::string()>& text,
                  const std::source_location& site = std::source_location::current());

/// Whether collectives of these ranks are compared.
[[nodiscard]] bool debugging(const Communicator& comm);
/// Writes the numbers as the text of a plan, if calls are compared.
[[nodiscard]] std::string plan_of(const Communicator& comm, std::span<const std::int64_t> counts);

/// Checks without waiting while debugging. The operation starts when the calls are found to agree, in the order of the
/// calls; it throws if they differ.
using MakeOperation = std::function<std::unique_ptr<Operation>()>;
[[nodiscard]] std::unique_ptr<Operation> checked(const Communicator& comm, const Call& call,
                                                 const std::source_location& site, MakeOperation make);
}  // namespace heatpp::detail
