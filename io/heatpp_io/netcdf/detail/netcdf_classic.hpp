#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>

namespace heatpp::io::detail {

/// How many bytes a file has at least, by the header that netCDF's classic formats (CDF-1, 2 and 5) have; 0 for files
/// of another format. netCDF delivers zeros for what is missing at the end. Throws IoError naming `op` and `path` for
/// damaged headers.
[[nodiscard]] std::int64_t classic_bytes(ByteReader& file, const std::string& path, const char* op);

}  // namespace heatpp::io::detail
