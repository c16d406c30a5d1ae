#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io {

/// How a text file is read.
struct LoadCsvOptions {
  char delimiter = ',';  ///< between fields; ' ': any run of blanks and tabs
  /// Lines skipped at the beginning of each file, as the names of columns. Comments and blank lines around them do not
  /// count, as in pandas and polars; line ends in quotes do not count either.
  std::int64_t header_lines = 0;
  std::optional<std::int64_t> max_rows = std::nullopt;  ///< number of rows that are kept; all rows are parsed
  std::vector<int> columns = {};                        ///< columns in this order; negative: from the end; empty: all
  std::optional<double> missing = std::nullopt;  ///< value of empty fields; nullopt: NaN, for whole numbers an error
  std::vector<std::string> missing_texts = {};   ///< texts that count as missing values, too: {"NA", "-"}
  char comment = '#';                            ///< begins a comment, which ends with the line; '\0': none
  char quote = '"';                              ///< around fields; '\0': none
  Dtype dtype = get_default_dtype();
  std::optional<int> split = std::nullopt;  ///< axis to cut evenly; nullopt: every rank holds all
  Grid grid = {};                           ///< ranks along each axis, or empty; as in ArrayOptions
  Device device = cpu;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// Reads the numbers of text files as an array of shape (rows, columns). Many files are joined along axis 0 in the
/// given order, or in natural order for a glob pattern or a directory, which means all its .csv files. Does the same as
/// numpy.loadtxt and genfromtxt.
///
/// Fields may be quoted as in RFC 4180 and then contain delimiters, line ends and doubled quotes. Blanks may surround
/// fields. Lines end with LF or CRLF; blank lines and comments are skipped. Numbers, nan and inf are read exactly; bool
/// as 0, 1, true, false; complex as 1+2j. A file without rows gives shape (0, 0). One rank parses each byte, for any
/// split; rows then move to their ranks, which needs memory for at most twice the block. Collective. Throws on all
/// ranks: IoError for missing files, and for a row of numbers that is a header line only because comments or blank
/// lines before it do not count; IoError with the line number for rows with more or fewer fields than the first, fields
/// that are not numbers of the dtype, and unclosed quotes; ValueError for bad options; IndexError for a bad split or
/// column.
[[nodiscard]] DNDarray load_csv(const Source& source, const LoadCsvOptions& options = {});

}  // namespace heatpp::io
