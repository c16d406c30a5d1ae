#include <heatpp/comm/detail/watch.hpp>

#include <heatpp/comm/detail/failure.hpp>

namespace heatpp::detail {

void Watch::run(const std::function<void()>& code) {
  try {
    code();
  } catch (...) {
    if (!thrown_) thrown_ = std::current_exception();
  }
}

void Watch::settle(const Communicator& comm, bool share) const {
  const auto again = [&] {
    if (thrown_) std::rethrow_exception(thrown_);
  };
  if (!share) return again();
  try {
    comm.agree(failure_of(again));
  } catch (const Error&) {
    again();  // this rethrows with the original type
    throw;
  }
}

}  // namespace heatpp::detail
