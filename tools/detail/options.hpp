#pragma once

#include <CLI/CLI.hpp>
#include <heatpp/core/detail/fields.hpp>

#include <algorithm>

namespace tools {

/// Adds an option for a number of bytes, at least one, as in 64MiB.
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                             const std::string& description);

/// Reports a wrong command line if `parse` throws ht::Error for the value.
CLI::Option* check_by(CLI::Option* option, const std::function<void(const std::string&)>& parse);

/// Adds an option whose text `parse` converts to `value`. If it throws ht::Error, the command line is wrong.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& name, T& value, Parse parse,
                        const std::string& description) {
  const auto set = [&value, parse](const std::string& text) { value = parse(text); };
  return check_by(command.add_option_function<std::string>(name, set, description),
                  [parse](const std::string& text) { static_cast<void>(parse(text)); });
}

/// Adds an option for one of an enumeration's values by its name.
template <class Enum>
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::optional<Enum>& value,
                        const std::string& description) {
  const auto& names = heatpp::detail::choice_names<Enum>;
  const auto set = [&value, &names](const std::string& text) {
    value = static_cast<Enum>(std::ranges::find(names, text) - names.begin());
  };
  return command.add_option_function<std::string>(name, set, description)
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())).description(""));
}

/// Returns the options on the command line, "--bins, --memory"; "" if there are none.
[[nodiscard]] std::string given(const std::vector<CLI::Option*>& options);

}  // namespace tools
