#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::detail {

std::string formatted_by(fmt::string_view text, fmt::format_args args) { return fmt::vformat(text, args); }

std::string message_by(std::string_view op, fmt::string_view text, fmt::format_args args) {
  return fmt::format("[{}] {}", op, fmt::vformat(text, args));
}

}  // namespace heatpp::detail
