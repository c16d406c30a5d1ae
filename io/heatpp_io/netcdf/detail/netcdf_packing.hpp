#pragma once

#include <heatpp_io/netcdf/detail/netcdf_file.hpp>

namespace at {
class Tensor;
}

namespace heatpp::io::detail {

/// How a variable's attributes say that its numbers stand for others: stored * scale + offset, and NaN for some.
struct NetcdfPacking {
  double scale = 1, offset = 0;
  bool packed = false;          ///< whether it has scale_factor or add_offset
  bool wide = false;            ///< whether one of these is no float32
  std::vector<double> missing;  ///< _FillValue and missing_value
};

/// Throws IoError naming `op` and `path` for scales and offsets that are no single numbers.
[[nodiscard]] NetcdfPacking read_packing(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Turns stored numbers, in a tensor of floats, into what they stand for.
void unpack(const NetcdfPacking& packing, at::Tensor numbers);

}  // namespace heatpp::io::detail
