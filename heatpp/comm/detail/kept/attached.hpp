#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Returns an object of another layer that lives as long as the communicator, whose copies share it. The first call
/// makes it; all calls for a communicator have the same T. Local, from any thread.
[[nodiscard]] std::shared_ptr<void> attached(const Communicator& comm, std::shared_ptr<void> (*make)());
template <class T>
[[nodiscard]] std::shared_ptr<T> attached(const Communicator& comm) {
  return std::static_pointer_cast<T>(attached(comm, []() -> std::shared_ptr<void> { return std::make_shared<T>(); }));
}

}  // namespace heatpp::detail
