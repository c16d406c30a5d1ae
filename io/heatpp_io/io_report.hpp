#pragma once

#include <cstdint>
#include <string>

namespace heatpp::io {

/// What the last load or save of this process did.
struct IoReport {
  std::string operation;    ///< "load_hdf5"; empty before the first
  std::int64_t bytes = 0;   ///< of the array, over all ranks
  std::int64_t files = 0;   ///< read or written, over all ranks
  double seconds = 0;       ///< wall time on this rank
  bool collective = false;  ///< whether the elements went through collective MPI-IO
  std::string reason;       ///< why not, if not
};

/// Local.
[[nodiscard]] IoReport io_report();
/// "load_hdf5: 1.07 GB in 16 files, 0.062 s (17.3 GB/s), independent: 16 files, each read by the ranks that need it".
[[nodiscard]] std::string to_string(const IoReport& report);

}  // namespace heatpp::io
