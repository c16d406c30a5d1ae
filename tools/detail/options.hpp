#pragma once

#include <CLI/CLI.hpp>

namespace tools {

/// Adds an option for a number of bytes, at least one, as in 64MiB.
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                             const std::string& description);

/// Reports a wrong command line if `parse` throws ht::Error for the value.
CLI::Option* check_by(CLI::Option* option, const std::function<void(const std::string&)>& parse);

/// Returns the options on the command line, "--bins, --memory"; "" if there are none.
[[nodiscard]] std::string given(const std::vector<CLI::Option*>& options);

}  // namespace tools
