#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/request.hpp>

namespace heatpp {

Request::Request() = default;
Request::Request(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  std::swap(impl_, other.impl_);  // what this one held is waited for when `other` dies
  return *this;
}

Request::~Request() {
  if (impl_) MPI_Waitall(static_cast<int>(impl_->pending.size()), impl_->pending.data(), MPI_STATUSES_IGNORE);
}

bool Request::test() {
  if (!impl_) return true;
  int done = 0;
  detail::check_mpi(
      MPI_Testall(static_cast<int>(impl_->pending.size()), impl_->pending.data(), &done, MPI_STATUSES_IGNORE), "test");
  if (done) impl_.reset();
  return done != 0;
}

void Request::wait() {
  if (!impl_) return;
  const auto code = MPI_Waitall(static_cast<int>(impl_->pending.size()), impl_->pending.data(), MPI_STATUSES_IGNORE);
  impl_.reset();
  detail::check_mpi(code, "wait");
}

}  // namespace heatpp
