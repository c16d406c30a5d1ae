#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>

namespace heatpp::io::detail {

/// How many bytes a file has at least, by the header that netCDF's classic formats (CDF-1, 2 and 5) have; 0 for files
/// of another format. netCDF delivers zeros for what is missing at the end. Throws IoError naming `op` and `path` for
/// damaged headers.
[[nodiscard]] std::int64_t classic_bytes(ByteReader& file, const std::string& path, const char* op);

/// The number of its classic format, 1, 2 or 5; 0 for files of another one.
[[nodiscard]] int classic_version(ByteReader& file);

/// Where a variable's elements lie in such a file.
struct ClassicPlace {
  std::int64_t begin = 0;
  std::int64_t record = 0;  ///< bytes from one of its records to the next; 0: all elements lie in one run
};
/// Throws IoError for other formats, and where the file has no such variable.
[[nodiscard]] ClassicPlace classic_place(ByteReader& file, const std::string& name, const std::string& path,
                                         const char* op);

}  // namespace heatpp::io::detail
