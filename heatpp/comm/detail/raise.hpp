#pragma once

#include <fmt/format.h>
#include <heatpp/comm/error.hpp>
#include <string_view>

namespace heatpp::detail {

/// Throws E with the message `[op] <formatted text>`.
template <class E, class... Args>
[[noreturn]] void raise(std::string_view op, fmt::format_string<Args...> text, Args&&... args) {
  throw E(fmt::format("[{}] {}", op, fmt::format(text, std::forward<Args>(args)...)));
}

/// "(4096, 512)", "(7,)", "()": as Python prints a tuple.
template <class Range>
[[nodiscard]] std::string tuple_text(const Range& values) {
  std::string text = "(";
  std::size_t count = 0;
  for (const auto& value : values) text += fmt::format("{}{}", count++ ? ", " : "", value);
  return text + (count == 1 ? ",)" : ")");
}

}  // namespace heatpp::detail
