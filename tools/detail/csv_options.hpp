#pragma once

#include <CLI/CLI.hpp>
#include <heatpp_io/csv/load_csv.hpp>

namespace tools {

/// Lets a subcommand say how CSV files are read.
void add_csv_options(CLI::App& command, heatpp::io::LoadCsvOptions& csv);

}  // namespace tools
