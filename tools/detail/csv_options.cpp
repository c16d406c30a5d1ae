#include "csv_options.hpp"

#include <map>

namespace tools {

void add_csv_options(CLI::App& command, heatpp::io::LoadCsvOptions& csv) {
  constexpr auto group = "CSV files";
  // The values are texts: a transformer formats characters as numbers, and the number of a tab is a character, too.
  const std::map<std::string, std::string> names{{"tab", "\t"}, {"\\t", "\t"}, {"blanks", " "}};
  command
      .add_option("--header-lines", csv.header_lines,
                  "number of lines to skip at the beginning of each file, without comments (#) and blank lines")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  command
      .add_option("--delimiter", csv.delimiter,
                  "delimiter of numbers: a character, tab (or \\t) or blanks; else a comma")
      ->transform(CLI::Transformer(names).description(""))
      ->group(group);
  command.add_option("--columns", csv.columns, "columns, numbered from 0, e.g. 0,2; negative ones count from the end")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
}

}  // namespace tools
