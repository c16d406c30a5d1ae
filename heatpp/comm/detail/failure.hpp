#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// What an exception says, without the stack that LibTorch's end with.
[[nodiscard]] std::string text_of(const std::exception& error);

/// The error that `work` ends with on this rank, for Communicator::agree().
[[nodiscard]] std::optional<Communicator::Failure> failure_of(const std::function<void()>& work);

}  // namespace heatpp::detail
