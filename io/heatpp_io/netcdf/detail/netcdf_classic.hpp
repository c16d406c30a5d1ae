#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>

namespace heatpp::io::detail {

/// Returns the minimum number of bytes of a file, from the header of netCDF's classic formats (CDF-1, 2 and 5); 0 for
/// files of another format. netCDF returns zeros for data missing at the end. Throws IoError naming `op` and `path` for
/// damaged headers.
[[nodiscard]] std::int64_t classic_bytes(ByteReader& file, const std::string& path, const char* op);

/// Returns the number of the classic format, 1, 2 or 5; 0 for files of another format.
[[nodiscard]] int classic_version(ByteReader& file);

/// The place of a variable's elements in such a file.
struct ClassicPlace {
  std::int64_t begin = 0;
  std::int64_t record = 0;  ///< bytes from one of its records to the next; 0: all elements are one run
};
/// Throws IoError for other formats, and if the file has no such variable.
[[nodiscard]] ClassicPlace classic_place(ByteReader& file, const std::string& name, const std::string& path,
                                         const char* op);

}  // namespace heatpp::io::detail
