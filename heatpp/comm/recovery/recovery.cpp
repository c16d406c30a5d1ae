#include <heatpp/comm/recovery/recovery.hpp>

#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/recovery/detail/family.hpp>
#include <heatpp/comm/recovery/detail/ulfm.hpp>
#include <heatpp/interop/mpi.hpp>

namespace heatpp {
namespace {

void expect_ulfm(const char* op) {
  detail::expect_running(op);
  if (!detail::ulfm::is_there())
    detail::raise<NotCompiled>(op,
                               "got an MPI without User Level Failure Mitigation; expected one that has it, such as "
                               "Open MPI 5");
  if (!detail::ulfm::is_on())
    detail::raise<CommError>(op, "got a program that its launcher ends if a rank ends; expected mpirun --with-ft ulfm");
}

/// What all remaining ranks can say of an attempt.
enum Outcome : int { made_it = 1, may_try_again = 2 };

/// One attempt to make the communicator, and what this rank says of it.
struct Attempt {
  std::optional<Communicator> made;
  std::exception_ptr error;
  int outcome = 0;

  explicit Attempt(MPI_Comm left) {
    try {
      made = from_mpi(left);
      outcome = made_it | may_try_again;
    } catch (...) {
      const bool lost = !detail::ulfm::lost_ranks(left).empty() || detail::ulfm::is_revoked(left);
      if (lost) outcome = may_try_again;
      else error = std::current_exception();
    }
  }
};

}  // namespace

bool survives_failures() {
  detail::expect_running("survives_failures");
  return detail::ulfm::is_on();
}

std::vector<int> lost_ranks(const Communicator& comm) {
  detail::expect_running("lost_ranks");
  return detail::ulfm::is_on() ? detail::ulfm::lost_ranks(comm.impl().mpi) : std::vector<int>();
}

Communicator survivors(const Communicator& comm) {
  expect_ulfm("survivors");
  detail::forget_call();
  detail::revoke_family(comm.impl().mpi);
  for (;;) {
    MPI_Comm left = MPI_COMM_NULL;
    detail::check_mpi(detail::ulfm::shrink(comm.impl().mpi, &left), "survivors");
    Attempt attempt(left);
    int outcome = attempt.outcome;
    const bool all_there = detail::ulfm::agree(left, &outcome) == MPI_SUCCESS;
    if (!detail::ulfm::is_revoked(left)) MPI_Comm_free(&left);
    if (attempt.error) std::rethrow_exception(attempt.error);
    if (!(outcome & may_try_again))
      detail::raise<CommError>("survivors",
                               "got an error on another rank; expected all ranks to make the communicator");
    if (all_there && (outcome & made_it)) return *attempt.made;
  }
}

}  // namespace heatpp
