#pragma once

#include <cstdint>
#include <string>

namespace heatpp::io {

/// What the last load or save of this process did.
struct IoReport {
  std::string operation;    ///< "load_hdf5"; empty before the first operation
  std::int64_t bytes = 0;   ///< bytes of the array, over all ranks
  std::int64_t files = 0;   ///< files read or written, over all ranks
  double seconds = 0;       ///< wall time on this rank
  bool collective = false;  ///< whether the elements moved through collective MPI-IO
  std::string reason;       ///< why not, if not collective
};

/// Returns the report of the last operation. Local.
[[nodiscard]] IoReport io_report();
/// Formats a report: "load_hdf5: 1.07 GB in 16 files, 0.062 s (17.3 GB/s), independent: 16 files, each read by ...".
[[nodiscard]] std::string to_string(const IoReport& report);

}  // namespace heatpp::io
