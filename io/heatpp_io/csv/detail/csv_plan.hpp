#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/csv/detail/csv_fields.hpp>

namespace heatpp::io::detail {

/// A part of a file whose records one rank parses.
struct CsvPart {
  std::size_t file;
  RecordReader::Part range;
};

/// Who parses what.
struct CsvPlan {
  std::vector<std::string> paths;
  std::int64_t columns = 0;    ///< of the first row; 0 where there is none
  bool quotes = false;         ///< whether there are any
  std::vector<CsvPart> parts;  ///< this rank's
  std::int64_t most_rows = 0;  ///< no more rows than this in them
};

/// Cuts the files behind their headers into ranges of bytes, one for each rank. Collective. Every rank looks through
/// its own bytes once, and, where there are quotes, once more. Throws IoError on all ranks for files that cannot be
/// read.
[[nodiscard]] CsvPlan plan_csv(std::vector<std::string> paths, const CsvDialect& dialect, std::int64_t header_lines,
                               const Communicator& comm, const char* op);

}  // namespace heatpp::io::detail
