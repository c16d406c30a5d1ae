#pragma once

#include <CLI/CLI.hpp>
#include <heatpp_io/csv/load_csv.hpp>

namespace tools {

/// Adds the options of a subcommand that control how CSV files are read.
void add_csv_options(CLI::App& command, heatpp::io::LoadCsvOptions& csv);

}  // namespace tools
