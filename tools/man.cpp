// Writes the manual pages of heatpp and of its subcommands from their help: heatpp_man <folder>
#include "tool.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

/// Text as troff takes it.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const bool begins = safe.empty() || safe.back() == '\n';
    if (begins && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') safe += "\\e";
    else if (c == '-') safe += "\\-";
    else safe += c;
    if (c == '\n') safe += ".br\n";
  }
  return safe;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string page_name(const CLI::App& app) {
  return app.get_parent() ? app.get_parent()->get_name() + "-" + app.get_name() : app.get_name();
}

std::string option_text(const CLI::Option& option) {
  const auto positional = option.get_positional();
  auto text = ".TP\n.B " + escaped(positional ? option.get_name(true) : option.get_name(false, true));
  if (option.get_items_expected_max() > 0 && !positional) text += " " + escaped(upper(option.get_type_name()));
  text += "\n" + escaped(option.get_description());
  if (!option.get_default_str().empty()) text += escaped(" (default: " + option.get_default_str() + ")");
  return text + "\n";
}

std::string section(const std::string& name, const std::string& body) {
  return body.empty() ? "" : ".SH " + name + "\n" + body + (body.ends_with('\n') ? "" : "\n");
}

std::string synopsis(const CLI::App& app) {
  std::string text = app.get_parent() ? ".B heatpp " + app.get_name() + "\n" : ".B heatpp\n";
  std::string rest = "[options]";
  for (const auto* option : app.get_options())
    if (option->get_positional()) rest += " " + option->get_name(true) + " ...";
  if (!app.get_subcommands({}).empty()) rest = "subcommand ...";
  return text + escaped(rest) + "\n.br\n.B mpirun \\-n\n.I N\n" + text + escaped(rest) + "\n";
}

std::string page(const CLI::App& app) {
  const auto name = page_name(app);
  std::string options, commands;
  for (const auto* option : app.get_options()) options += option_text(*option);
  for (const auto* command : app.get_subcommands({}))
    commands += ".TP\n.BR " + escaped(page_name(*command)) + " (1)\n" + escaped(command->get_description()) + "\n";
  return ".TH " + upper(name) + " 1 \"\" \"heatpp " HEATPP_VERSION "\" \"User Commands\"\n" +
         section("NAME", escaped(name) + " \\- " + escaped(app.get_description())) +
         section("SYNOPSIS", synopsis(app)) + section("COMMANDS", commands) + section("OPTIONS", options) +
         section("NOTES", escaped(app.get_footer())) +
         section("EXIT STATUS", "0; 1 after an error; 2 for a wrong command line. The same on all ranks.") +
         section("SEE ALSO", app.get_parent() ? ".BR heatpp (1), mpirun (1)\n" : ".BR mpirun (1)\n");
}

void write(const std::filesystem::path& folder, const CLI::App& app) {
  std::ofstream file(folder / (page_name(app) + ".1"));
  file << page(app);
  if (!file.flush())
    throw std::runtime_error("[heatpp_man] got \"" + folder.string() + "\"; expected a folder to write to");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("[heatpp_man] got no folder; expected one for the pages");
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  const tools::CommandLine line;
  write(folder, line.app);
  for (const auto& [command, action] : line.commands) write(folder, *command);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
