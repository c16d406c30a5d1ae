#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/csv/detail/csv_fields.hpp>

namespace heatpp::io::detail {

/// A part of a file whose records one rank parses.
struct CsvPart {
  std::size_t file;
  RecordReader::Part range;
};

/// The file that was opened last stays open, so that a rank which looks at it several times opens it once.
class LastOpened {
 public:
  [[nodiscard]] FileReader& file(const std::string& path, const char* op) {
    if (!file_ || path_ != path) file_ = std::make_shared<FileReader>(path_ = path, op);
    return *file_;
  }

 private:
  std::string path_;
  std::shared_ptr<FileReader> file_;
};

/// Which rank parses which parts.
struct CsvPlan {
  std::vector<std::string> paths;
  std::int64_t columns = 0;    ///< columns of the first row; 0 if there is no row
  bool quotes = false;         ///< whether the files contain quotes
  std::vector<CsvPart> parts;  ///< the parts of this rank
  std::int64_t most_rows = 0;  ///< an upper bound of the number of rows in them
  LastOpened opened = {};
};

/// Cuts the files after their headers into ranges of bytes, one for each rank. Rank 0 gets all of a single file of at
/// most 1 MiB. Collective. Every rank scans its own bytes once, and a second time if there are quotes. If a file cannot
/// be read, all ranks throw IoError.
[[nodiscard]] CsvPlan plan_csv(std::vector<std::string> paths, const CsvDialect& dialect, std::int64_t header_lines,
                               const Communicator& comm, const char* op);

}  // namespace heatpp::io::detail
