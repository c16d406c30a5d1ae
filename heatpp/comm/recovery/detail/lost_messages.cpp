#include <heatpp/comm/recovery/detail/lost_messages.hpp>

#include <heatpp/comm/recovery/recovery.hpp>

#include <chrono>
#include <thread>

namespace heatpp::detail {
namespace {

/// Lets errors of MPI_COMM_WORLD be codes. Open MPI 5.0.11 gives it errors of requests that have failed before.
class WorldReturnsErrors {
 public:
  WorldReturnsErrors() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_host_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~WorldReturnsErrors() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_host_);
    MPI_Errhandler_free(&of_host_);
  }
  WorldReturnsErrors(const WorldReturnsErrors&) = delete;
  WorldReturnsErrors& operator=(const WorldReturnsErrors&) = delete;

 private:
  MPI_Errhandler of_host_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

void end_lost_messages(std::span<MPI_Request> requests) noexcept {
  using Clock = std::chrono::steady_clock;
  const WorldReturnsErrors while_ending;
  const auto end = Clock::now() + std::chrono::seconds(1);
  for (auto& request : requests)
    for (int ended = 0; request != MPI_REQUEST_NULL && !ended && Clock::now() < end;) {
      if (MPI_Test(&request, &ended, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      std::this_thread::yield();
    }
}

bool tells_of_loss(const std::exception_ptr& error) noexcept {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const ProcessFailure&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

}  // namespace heatpp::detail
