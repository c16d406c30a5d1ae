#pragma once

#include <algorithm>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/recovery/detail/lost_messages.hpp>

namespace heatpp::detail {

/// Requests of the MPI library that end together. Blocking calls use them, too, because MPI does not let a blocking
/// collective of one rank meet a non-blocking one of another, and only a rank itself knows what it has under way.
class Pending final : public Operation {
 public:
  explicit Pending(const Communicator& comm, const char* op) : comm_(comm), op_(op) {}
  [[nodiscard]] MPI_Request& next() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  /// Forgets the requests, which have ended.
  void clear() { requests_.clear(); }

  /// Sets where the rank of the sender is written. For a single receive.
  void tell_source(std::shared_ptr<int> source) { source_ = std::move(source); }

  bool advance() override {
    int done = 0;
    if (source_) return received();
    check_mpi(MPI_Testall(count(), requests_.data(), &done, MPI_STATUSES_IGNORE), op_);
    return done != 0;
  }
  bool advance_or_sleep() override {
    if (source_) return received();
    check_mpi(MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE), op_);
    return true;
  }
  [[nodiscard]] bool in_flight() const override {
    return std::ranges::any_of(requests_, [](auto request) { return request != MPI_REQUEST_NULL; });
  }
  void end_messages() noexcept override { end_lost_messages(requests_); }

 private:
  bool received() {
    int done = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&requests_.front(), &done, &status), op_);
    if (done) *source_ = status.MPI_SOURCE;
    return done != 0;
  }
  [[nodiscard]] int count() const { return static_cast<int>(requests_.size()); }

  Communicator comm_;  // lives as long as the requests
  const char* op_;
  std::vector<MPI_Request> requests_;
  std::shared_ptr<int> source_ = nullptr;
};

/// Calls f, a non-blocking MPI function, with the arguments and a request.
template <class F, class... Args>
[[nodiscard]] std::unique_ptr<Pending> pending(const Communicator& comm, const char* op, F f, Args... args) {
  auto operation = std::make_unique<Pending>(comm, op);
  check_mpi(f(args..., comm.impl().mpi, &operation->next()), op);
  return operation;
}

}  // namespace heatpp::detail
