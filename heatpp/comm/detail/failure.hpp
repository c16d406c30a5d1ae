#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Returns the text of an exception, without the stack at the end of LibTorch's texts.
[[nodiscard]] std::string text_of(const std::exception& error);

/// Returns the error that `work` ends with on this rank, for Communicator::agree().
[[nodiscard]] std::optional<Communicator::Failure> failure_of(const std::function<void()>& work);

}  // namespace heatpp::detail
