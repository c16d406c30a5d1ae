#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::nn {

struct CsvLogOptions {
  std::vector<std::string> columns = {};  ///< the first one rises from row to row, as the number of a batch does
  double resume_at = 0;                   ///< of an existing file, rows whose first value is at least this are removed
};

/// A table of numbers that grows row by row, in a file on rank 0. An interrupted training leaves whole rows, and one
/// that is resumed continues the table where its checkpoint was.
class CsvLog {
 public:
  /// Makes the file with a header, or continues it: what is there of an unfinished row and from `resume_at` on is
  /// removed. Collective. Throws on all ranks: IoError, and ValueError where the file has other columns.
  CsvLog(const Communicator& comm, const std::string& path, const CsvLogOptions& options);
  ~CsvLog();
  CsvLog(CsvLog&&) noexcept;
  CsvLog& operator=(CsvLog&&) noexcept;

  /// One value for each column; handed to the system in one call. Local; throws ValueError for another number of
  /// values, and nothing else: what could not be written is reported by `check`.
  void row(std::span<const double> values);
  void row(std::initializer_list<double> values) { row(std::span(values.begin(), values.size())); }
  /// Collective. Throws IoError on all ranks where a row could not be written.
  void check();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nn
