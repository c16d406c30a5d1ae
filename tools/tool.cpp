#include "tool.hpp"

#include <heatpp/comm/error.hpp>

#include <iostream>

namespace tools {
namespace {

struct Command {
  const char* name;
  const char* description;
  Run (*add)(CLI::App&);
};

constexpr std::array known{
    Command{"info", "What heatpp and this machine have: versions, ranks, devices, settings, and what is missing",
            add_info},
    Command{"describe", "What files hold: names and shapes, or an array's moments, percentiles and histogram",
            add_describe},
    Command{"convert", "Write an array in another format, other chunks, files, dtype or compression", add_convert},
    Command{"calibrate", "Measure the links between ranks and choose all-reduces by that", add_calibrate},
    Command{"bench", "Latency and bandwidth between ranks, level by level, and of all-reduces", add_bench},
    Command{"new", "Start a project that uses heatpp: a program, its CMakeLists.txt and a README", add_new},
};

/// Returns the error of a command line; CLI11 has no message for an unknown subcommand.
std::string message_of(const CLI::App* app, const CLI::Error& error) {
  const auto unknown = app->remaining();
  if (!app->get_subcommands().empty() || unknown.empty()) return CLI::FailureMessage::simple(app, error);
  std::string names;
  for (const auto& command : known) names += (names.empty() ? "" : ", ") + std::string(command.name);
  return fmt::format("got \"{}\"; expected a subcommand of {}\n", unknown[0], names);
}

/// Prints help to the requested place, and errors with the usage to stderr; once, not once for each rank.
int report(const CommandLine& line, const CLI::ParseError& error) {
  const bool asked = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
  if (ht::world().rank() == 0) {
    line.app.exit(error, std::cout, std::cerr);
    if (!asked) std::cerr << '\n' << line.app.help() << std::flush;
  }
  return asked ? 0 : 2;
}

}  // namespace

CommandLine::CommandLine() : app("Looks at data and machines, on one process or under mpirun", "heatpp") {
  app.set_version_flag("--version", "heatpp " HEATPP_VERSION);
  app.require_subcommand(1);
  app.failure_message(message_of);
  for (const auto& command : known) {
    auto* added = app.add_subcommand(command.name, command.description);
    commands.emplace_back(added, command.add(*added));
  }
}

int run(int argc, char** argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report(line, error);
  }
  try {
    for (const auto& [command, action] : line.commands)
      if (command->parsed()) action();
  } catch (const ht::Error& error) {
    if (ht::world().rank() == 0) std::cerr << "heatpp: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}

void print(const std::string& text) {
  if (ht::world().rank() == 0) std::cout << text << std::flush;
}

}  // namespace tools
