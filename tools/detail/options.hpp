#pragma once

#include <CLI/CLI.hpp>

namespace tools {

/// Adds an option of so many bytes, one or more, as in 64MiB.
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                             const std::string& description);

/// Makes a value for which `parse` throws ht::Error a wrong command line.
CLI::Option* check_by(CLI::Option* option, const std::function<void(const std::string&)>& parse);

/// Those on the command line, "--bins, --memory"; of none "".
[[nodiscard]] std::string given(const std::vector<CLI::Option*>& options);

}  // namespace tools
