#pragma once

#include <exception>
#include <string>

namespace heatpp::nn::detail {

/// Returns the message of an exception without LibTorch's stack trace, which begins after the first line.
[[nodiscard]] inline std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace heatpp::nn::detail
