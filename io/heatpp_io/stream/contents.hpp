#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/shape.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io {

/// What is known of an array in files before its elements are read.
struct StoredInfo {
  std::string name = {};                      ///< its path in a file, "run/1/field"; empty in formats without names
  Shape shape = {};                           ///< of the whole
  std::optional<Dtype> dtype = std::nullopt;  ///< that load gives; nullopt: the library does not read it
  Shape chunks = {};                          ///< their extents; empty: none
  bool compressed = false;
  std::string problem = {};                       ///< without a dtype: why, the text of load's error
  std::vector<std::string> dimension_names = {};  ///< one for each axis, or none
  /// What is said of the array in HDF5, Zarr and netCDF: texts, numbers, and lists of these. Without those by which
  /// load has decoded the numbers, such as scale_factor and _FillValue.
  Attributes attributes = {};
};

/// All arrays of a file, those in groups as well, and what is no array of numbers. Only what describes them is read,
/// but for CSV, which is parsed. Rank 0 looks, all ranks get the same. Collective. Throws on all ranks as load does.
[[nodiscard]] std::vector<StoredInfo> contents(const std::filesystem::path& path,
                                               const std::optional<Communicator>& comm = std::nullopt);

}  // namespace heatpp::io
