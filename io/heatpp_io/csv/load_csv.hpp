#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io {

/// How a text file is read.
struct LoadCsvOptions {
  char delimiter = ',';           ///< between fields; ' ': any run of blanks and tabs
  std::int64_t header_lines = 0;  ///< left out at the beginning of each file; one with line ends in quotes counts once
  std::optional<std::int64_t> max_rows = std::nullopt;  ///< how many rows are kept; all are parsed
  std::vector<int> columns = {};                 ///< which, in this order; negative ones count from the end; empty: all
  std::optional<double> missing = std::nullopt;  ///< for empty fields; nullopt: NaN, and an error for whole numbers
  std::vector<std::string> missing_texts = {};   ///< fields that are missing as well: {"NA", "-"}
  char comment = '#';                            ///< up to the end of the line; '\0': none
  char quote = '"';                              ///< around fields; '\0': none
  Dtype dtype = get_default_dtype();
  std::optional<int> split = std::nullopt;  ///< axis to cut evenly; nullopt: every rank holds all
  Device device = cpu;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// The numbers of a text file as an array of shape (rows, columns), or those of many files put together along axis 0 in
/// the order given (those of a glob pattern or a directory, which means all its .csv files, in natural order). What
/// numpy.loadtxt and genfromtxt do.
///
/// Fields may be quoted as RFC 4180 has it, with delimiters, line ends and doubled quotes in them, and have blanks
/// around them; lines end with LF or CRLF; blank lines and comments count as none. Numbers are read exactly, nan and
/// inf among them; bool as 0, 1, true, false; complex as 1+2j. A file without rows gives shape (0, 0). Each byte is
/// parsed by one rank, whatever the split; the ranks' rows are then moved to their places, for which there is memory
/// twice the block at most. Collective. Throws on all ranks: IoError for files that are missing, and, with the number
/// of the line, for rows with more or fewer fields than the first, fields that are no numbers of the dtype, and quotes
/// that are not closed; ValueError for bad options; IndexError for a bad split or column.
[[nodiscard]] DNDarray load_csv(const Source& source, const LoadCsvOptions& options = {});

}  // namespace heatpp::io
