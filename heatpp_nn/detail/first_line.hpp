#pragma once

#include <exception>
#include <string>

namespace heatpp::nn::detail {

/// What an exception says, without the stack trace that LibTorch's carry after the first line.
[[nodiscard]] inline std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace heatpp::nn::detail
