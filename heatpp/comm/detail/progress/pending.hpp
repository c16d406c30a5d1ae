#pragma once

#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>

namespace heatpp::detail {

/// Requests of the MPI library that end together.
class Pending final : public Operation {
 public:
  explicit Pending(const Communicator& comm, const char* op) : comm_(comm), op_(op) {}
  [[nodiscard]] MPI_Request& next() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  bool advance() override {
    int done = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), op_);
    return done != 0;
  }

 private:
  Communicator comm_;  // lives as long as its requests
  const char* op_;
  std::vector<MPI_Request> requests_;
};

}  // namespace heatpp::detail
