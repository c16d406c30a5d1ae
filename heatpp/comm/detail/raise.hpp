#pragma once

#include <fmt/format.h>
#include <heatpp/comm/error.hpp>
#include <string_view>

namespace heatpp::detail {

/// Returns the text with these values in it. It is compiled once for each version of fmt, heatpp's own and LibTorch's,
/// instead of in every file that formats a text.
[[nodiscard]] std::string formatted_by(fmt::string_view text, fmt::format_args args);
/// Returns the formatted text behind `[op] `.
[[nodiscard]] std::string message_by(std::string_view op, fmt::string_view text, fmt::format_args args);

/// Returns the text of a checked format string. fmt 12.2 deprecates the conversion, and fmt 9 has no get().
template <class Text>
[[nodiscard]] constexpr fmt::string_view format_text(const Text& text) {
  if constexpr (requires { text.get(); }) return text.get();
  else return text;
}

/// Formats as fmt::format does.
template <class... Args>
[[nodiscard]] std::string formatted(fmt::format_string<Args...> text, Args&&... args) {
  return formatted_by(format_text(text), fmt::make_format_args(args...));
}

/// Throws E with the message `[op] <formatted text>`.
template <class E, class... Args>
[[noreturn]] void raise(std::string_view op, fmt::format_string<Args...> text, Args&&... args) {
  throw E(message_by(op, format_text(text), fmt::make_format_args(args...)));
}

/// Writes a tuple as Python prints it: "(4096, 512)", "(7,)", "()".
template <class Range>
[[nodiscard]] std::string tuple_text(const Range& values) {
  std::string text = "(";
  std::size_t count = 0;
  for (const auto& value : values) text += formatted("{}{}", count++ ? ", " : "", value);
  return text + (count == 1 ? ",)" : ")");
}

}  // namespace heatpp::detail
