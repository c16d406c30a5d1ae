#include <heatpp/comm/detail/progress/fingerprint.hpp>

#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/progress/caller.hpp>
#include <heatpp/comm/detail/progress/census.hpp>
#include <heatpp/comm/detail/progress/deadline.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <fmt/ranges.h>
namespace heatpp::detail {
namespace {

[[noreturn]] void raise_missing(const Communicator& comm, const Fingerprint& mine) {
  Census census(comm, mine);
  if (census.wait()) {
    census.check();
    raise<CommError>(mine.op,
                     "got the call of a rank later than after {} s, in {}; expected it before, or a larger "
                     "HEATPP_TIMEOUT",
                     patience_seconds(), mine.text());
  }
  raise<CommError>(mine.op, "got no call from rank {} of {} within {} s, in {}; expected all ranks to make it",
                   census.missing(), comm.size(), patience_seconds(), mine.text());
}

class Checked final : public Operation {
 public:
  Checked(const Communicator& comm, const Fingerprint& mine, MakeOperation make)
      : comm_(comm), mine_(mine), make_(std::move(make)), turn_(comm.impl().calls_to_check), calls_(comm, mine) {}

  bool advance() override {
    if (!operation_) {
      if (!turn_.come() || !calls_.ended()) return false;
      operation_ = turn_.keep_unless_thrown([&] {
        calls_.check();
        return make_();
      });
      turn_.end();
    }
    return operation_->advance();
  }

  void give_up() override {
    if (!operation_) raise_missing(comm_, mine_);
    operation_->give_up();
  }
  [[nodiscard]] bool in_flight() const override { return operation_ && operation_->in_flight(); }
  void end_messages() noexcept override {
    if (operation_) operation_->end_messages();
  }

 private:
  Communicator comm_;
  Fingerprint mine_;
  MakeOperation make_;
  CallQueue::Turn turn_;
  RollCall calls_;
  std::unique_ptr<Operation> operation_;
};

}  // namespace

std::string CallDetail::text() const {
  if (kind_ == root_rank) return formatted("root {}", number_);
  return kind_ == reduction ? op_name(static_cast<ReduceOp>(number_)) : "";
}

bool debugging(const Communicator& comm) { return comm.impl().settings->debug && comm.size() > 1; }

std::string plan_of(const Communicator& comm, std::span<const std::int64_t> counts) {
  return debugging(comm) ? formatted("counts {}", fmt::join(counts, ", ")) : std::string();
}

void expect_alike(const Communicator& comm, const char* op, const std::function<std::string()>& text,
                  const std::source_location& site) {
  if (debugging(comm)) check_collective(comm, {.op = op, .plan = text()}, site);
}

void check_collective(const Communicator& comm, const Call& call, const std::source_location& site) {
  expect_running(call.op);
  if (!calls_are_noted() || comm.size() == 1) return;
  const Fingerprint mine(call, site, debugging(comm) ? caller() : "");
  note({comm, mine});
  if (!debugging(comm)) return;
  CallQueue::Turn turn(comm.impl().calls_to_check);
  RollCall calls(comm, mine);
  const Deadline deadline;
  while (!turn.come() || !calls.ended()) {
    progress();
    if (deadline.passed() || somebody_gave_up(comm)) raise_missing(comm, mine);
  }
  calls.check();
}

std::unique_ptr<Operation> checked(const Communicator& comm, const Call& call, const std::source_location& site,
                                   MakeOperation make) {
  expect_running(call.op);
  const Fingerprint mine(call, site, caller());
  note({comm, mine});
  return std::make_unique<Checked>(comm, mine, std::move(make));
}

}  // namespace heatpp::detail
