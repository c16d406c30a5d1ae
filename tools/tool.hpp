#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <heatpp/comm/communicator.hpp>
#include <heatpp/version.hpp>

#include <functional>
#include <string>

namespace tools {

namespace ht = heatpp;

/// Runs a subcommand after its options have been read. Collective. Throws ht::Error on all ranks or none.
using Run = std::function<void()>;

// Each adds its options to its subcommand. Each has its own file pair.
Run add_info(CLI::App& command);
Run add_describe(CLI::App& command);
Run add_convert(CLI::App& command);
Run add_calibrate(CLI::App& command);
Run add_bench(CLI::App& command);
Run add_new(CLI::App& command);

/// The command line: `app`, and the function of each subcommand.
struct CommandLine {
  CLI::App app;
  std::vector<std::pair<CLI::App*, Run>> commands;

  CommandLine();
};

/// Reads the command line and runs it. Returns 0, 1 after an error, 2 for a wrong command line, on all ranks.
int run(int argc, char** argv);

/// Prints on rank 0.
void print(const std::string& text);

}  // namespace tools
