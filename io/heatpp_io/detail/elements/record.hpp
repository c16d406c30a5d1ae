#pragma once

#include <chrono>
#include <heatpp_io/io_report.hpp>

namespace heatpp::io::detail {

/// How the elements moved between file and memory.
struct Transfer {
  bool collective = false;
  std::string reason;  ///< why the transfer was not collective
};

/// Measures the time of one operation, and stores its report as the last one.
class Recorder {
 public:
  explicit Recorder(const char* operation) : operation_(operation) {}
  void finish(std::int64_t bytes, std::int64_t files, const Transfer& transfer) const;

 private:
  const char* operation_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace heatpp::io::detail
