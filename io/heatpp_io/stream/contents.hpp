#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/shape.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/compression.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io {

/// What is known about an array in files before its elements are read.
struct StoredInfo {
  std::string name = {};                      ///< its path in a file, "run/1/field"; empty in formats without names
  Shape shape = {};                           ///< shape of the whole array
  std::optional<Dtype> dtype = std::nullopt;  ///< dtype that load gives; nullopt: the library cannot read it
  Shape chunks = {};                          ///< extents of chunks; empty: none
  bool compressed = false;
  std::string problem = {};                       ///< if there is no dtype: the reason, the text of load's error
  std::vector<std::string> dimension_names = {};  ///< one for each axis, or none
  /// Attributes of the array in HDF5, Zarr and netCDF: texts, numbers, and lists of these. Those with which load has
  /// decoded the numbers, such as scale_factor and _FillValue, are left out.
  Attributes attributes = {};
  /// The compression of the library that is nearest to that of its chunks, with which convert writes; nullopt: none.
  std::optional<Compression> compression = std::nullopt;
  bool uint64 = false;  ///< the file has uint64, of which int64 holds only the numbers below 2^63
};

/// Returns all arrays of a file, including those in groups, and entries that are not arrays of numbers. Reads only
/// their descriptions, but parses CSV. Rank 0 looks; all ranks get the result. Collective. Throws on all ranks as load.
[[nodiscard]] std::vector<StoredInfo> contents(const std::filesystem::path& path,
                                               const std::optional<Communicator>& comm = std::nullopt);

}  // namespace heatpp::io
