#include "options.hpp"

#include <fmt/format.h>
#include <heatpp/comm/error.hpp>

#include <algorithm>
#include <limits>

namespace tools {
namespace {

/// Replaces a size by its number of bytes. CLI11 2.1 turns a negative one into a very large number, and 2.4 says that
/// it is no UINT.
std::string to_bytes(std::string& text) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  const auto before = text;
  const bool negative = text.starts_with('-');
  if (auto error = CLI::AsSizeValue(false)(text); !error.empty() && !negative) return error;
  std::uint64_t bytes = 0;
  if (!negative && CLI::detail::lexical_cast(text, bytes) && bytes >= 1 && bytes <= most) return {};
  return fmt::format("got {}; expected 1 byte or more, less than 8EiB, as in 64MiB", before);
}

}  // namespace

CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                             const std::string& description) {
  return command.add_option(name, bytes, description)
      ->transform(CLI::Validator(to_bytes, CLI::AsSizeValue(false).get_description()));
}

CLI::Option* check_by(CLI::Option* option, const std::function<void(const std::string&)>& parse) {
  const auto check = [parse](const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const heatpp::Error& error) {
      return error.what();
    }
    return {};
  };
  return option->check(CLI::Validator(check, ""));
}

std::string given(const std::vector<CLI::Option*>& options) {
  std::string names;
  for (const auto* option : options)
    if (option->count() > 0) names += (names.empty() ? "" : ", ") + option->get_name();
  return names;
}

}  // namespace tools
