#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <cstdlib>

namespace heatpp::detail {
namespace {

constexpr int tag = 3;

[[noreturn]] void raise_missing(RollCall& calls, const Communicator& comm, const Fingerprint& mine) {
  raise<CommError>(mine.op, "got no call from rank {} of {} within {} s, in {}; expected all ranks to make it",
                   calls.missing(), comm.size(), patience_seconds(), mine.text());
}

class Checked final : public Operation {
 public:
  Checked(const Communicator& comm, const Fingerprint& mine, MakeOperation make)
      : comm_(comm), mine_(mine), make_(std::move(make)), turn_(comm.impl().calls_to_check), calls_(comm, mine, tag) {}

  bool advance() override {
    if (!operation_) {
      if (!calls_.ended() || !turn_.come()) return false;
      operation_ = turn_.keep_unless_thrown([&] {
        calls_.check();
        return make_();
      });
      turn_.end();
    }
    return operation_->advance();
  }

  void give_up() override {
    if (!operation_) raise_missing(calls_, comm_, mine_);
  }

 private:
  Communicator comm_;
  Fingerprint mine_;
  MakeOperation make_;
  Turns::Turn turn_;
  RollCall calls_;
  std::unique_ptr<Operation> operation_;
};

}  // namespace

bool debugging() {
  static const bool debug = [] {
    const char* value = std::getenv("HEATPP_DEBUG");
    return value && std::string_view(value).find("collectives") != std::string_view::npos;
  }();
  return debug;
}

void check_collective(const Communicator& comm, const Call& call, const std::source_location& site) {
  if (!waits_are_limited() || comm.size() == 1) return;
  const Fingerprint mine(call, site);
  note({comm, mine});
  if (!debugging()) return;
  Turns::Turn turn(comm.impl().calls_to_check);
  RollCall calls(comm, mine, tag);
  const Deadline deadline;
  while (!calls.ended() || !turn.come()) {
    progress();
    if (deadline.passed()) raise_missing(calls, comm, mine);
  }
  calls.check();
}

std::unique_ptr<Operation> checked(const Communicator& comm, const Call& call, const std::source_location& site,
                                   MakeOperation make) {
  const Fingerprint mine(call, site);
  note({comm, mine});
  return std::make_unique<Checked>(comm, mine, std::move(make));
}

}  // namespace heatpp::detail
