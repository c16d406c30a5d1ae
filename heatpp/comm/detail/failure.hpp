#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// The error that `work` ends with on this rank, for Communicator::agree().
[[nodiscard]] std::optional<Communicator::Failure> failure_of(const std::function<void()>& work);

}  // namespace heatpp::detail
