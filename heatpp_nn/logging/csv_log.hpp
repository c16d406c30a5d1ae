#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::nn {

struct CsvLogOptions {
  std::vector<std::string> columns = {};  ///< the first one increases from row to row, e.g. the number of a batch
  double resume_at = 0;                   ///< in an existing file, rows whose first value is at least this are removed
};

/// A table of numbers that grows row by row, in a file on rank 0. An interrupted training leaves complete rows. A
/// resumed training continues the table from its checkpoint on.
class CsvLog {
 public:
  /// Creates the file with a header, or continues it: an incomplete row, and rows from `resume_at` on, are removed.
  /// Collective. Throws on all ranks: IoError, and ValueError if the file has other columns.
  CsvLog(const Communicator& comm, const std::string& path, const CsvLogOptions& options);
  ~CsvLog();
  CsvLog(CsvLog&&) noexcept;
  CsvLog& operator=(CsvLog&&) noexcept;

  /// Writes one value for each column, in one call of the system. Local. Throws ValueError for another number of
  /// values; failed writes are reported by `check`.
  void row(std::span<const double> values);
  void row(std::initializer_list<double> values) { row(std::span(values.begin(), values.size())); }
  /// Collective. Throws IoError on all ranks if a row could not be written.
  void check();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nn
