// Writes the manual pages of heatpp and its subcommands from their help, and that of heatpp-train from its own help,
// printed in wide lines: heatpp_man <folder> <file with heatpp-train's help>
#include "tool.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

/// Escapes a text for troff.
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

/// Returns an option and its description.
std::string entry(const std::string& term, const std::string& text) {
  return ".TP\n.B " + escaped(term) + "\n" + (text.empty() ? "" : escaped(text) + "\n");
}

std::string option_text(const CLI::Option& option) {
  const auto positional = option.get_positional();
  auto term = positional ? option.get_name(true) : option.get_name(false, true);
  if (option.get_items_expected_max() > 0 && !positional) term += " " + upper(option.get_type_name());
  const auto value = option.get_default_str();
  return entry(term, option.get_description() + (value.empty() ? "" : " (default: " + value + ")"));
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

/// The parts of a page; all except the first two are in troff.
struct Page {
  std::string name, summary, synopsis, description, commands, options, notes, exit_status;
};

Page page_of(const CLI::App& app) {
  Page page;
  page.name = page_name(app);
  page.summary = app.get_description();
  page.synopsis = synopsis(app);
  for (const auto* command : app.get_subcommands({}))
    page.commands += ".TP\n.BR " + escaped(page_name(*command)) + " (1)\n" + escaped(command->get_description()) + "\n";
  for (const auto* option : app.get_options()) page.options += option_text(*option);
  page.notes = escaped(app.get_footer());
  page.exit_status = "0; 1 after an error; 2 for a wrong command line. The same on all ranks.";
  return page;
}

/// Returns troff for a line of argparse's lists: an option and its description, or a description below a long option.
std::string listed(const std::string& line) {
  const auto begin = line.find_first_not_of(' ');
  if (begin == line.npos) return "";
  if (begin > 2) return escaped(line.substr(begin)) + "\n";
  const auto end = line.find("  ", begin);
  const auto text = line.find_first_not_of(' ', end);
  return entry(line.substr(begin, end - begin), text == line.npos ? "" : line.substr(text));
}

/// Parses argparse's help: the usage, a line and paragraphs about the program, and lists.
Page page_of(std::istream& help) {
  const std::string usage = "usage: ";
  Page page;
  std::string line;
  std::getline(help, line);
  const auto end = line.find(' ', usage.size());
  if (!line.starts_with(usage) || end == line.npos)
    throw std::runtime_error("[heatpp_man] got \"" + line + "\"; expected a help that begins with the usage");
  page.name = line.substr(usage.size(), end - usage.size());
  page.synopsis = ".B " + escaped(page.name) + "\n" + escaped(line.substr(end + 1));
  bool lists = false;
  while (std::getline(help, line)) {
    if (line == "options:" || line.ends_with(" arguments:")) lists = true;
    else if (lists) page.options += listed(line);
    else if (page.summary.empty()) page.summary = line;
    else page.description += (line.empty() ? ".PP" : escaped(line)) + "\n";
  }
  if (page.options.empty()) throw std::runtime_error("[heatpp_man] got a help without options; expected argparse's");
  return page;
}

std::string text_of(const Page& page) {
  return ".TH " + upper(page.name) + " 1 \"\" \"heatpp " HEATPP_VERSION "\" \"User Commands\"\n" +
         section("NAME", escaped(page.name) + " \\- " + escaped(page.summary)) + section("SYNOPSIS", page.synopsis) +
         section("DESCRIPTION", page.description) + section("COMMANDS", page.commands) +
         section("OPTIONS", page.options) + section("NOTES", page.notes) + section("EXIT STATUS", page.exit_status) +
         section("SEE ALSO",
                 page.name == "heatpp" ? ".BR heatpp\\-train (1), mpirun (1)" : ".BR heatpp (1), mpirun (1)");
}

void write(const std::filesystem::path& folder, const Page& page) {
  std::ofstream file(folder / (page.name + ".1"));
  file << text_of(page);
  if (!file.flush())
    throw std::runtime_error("[heatpp_man] got \"" + folder.string() + "\"; expected a folder to write to");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3)
    throw std::runtime_error("[heatpp_man] got no folder and file; expected one for the pages, one with help");
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  const tools::CommandLine line;
  write(folder, page_of(line.app));
  for (const auto& [command, action] : line.commands) write(folder, page_of(*command));
  std::ifstream help(argv[2]);
  write(folder, page_of(help));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
