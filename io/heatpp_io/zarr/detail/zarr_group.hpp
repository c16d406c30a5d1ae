#pragma once

#include <heatpp_io/compression.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace heatpp::io::detail {

/// A new array of format 2 or 3, in C order.
struct NewZarray {
  Dtype dtype;
  Shape shape, chunks;
  Shape shards = {};  ///< format 3: the extents of shards; empty: none
  std::optional<Compression> compression = std::nullopt;
  int format = 2;
  bool uint64 = false;  ///< whether int64 elements are stored as uint64
};

/// Metadata by file: ".zarray" and ".zattrs", or "zarr.json".
using ZarrMetadata = std::map<std::string, nlohmann::json>;
/// Returns the metadata of the array `name`. Axes without a name get one, as xarray requires: "<name>_dim_0", ...
[[nodiscard]] ZarrMetadata metadata_of(const NewZarray& array, const Annotations& annotations, const std::string& name);

/// Writes the files of an array's directory. Throws IoError.
void write_metadata(const std::filesystem::path& directory, const ZarrMetadata& metadata, const char* op);

/// Adds the array `name` in a directory of the store to the groups that contain it: makes missing groups, a new
/// store with consolidated metadata, and adds the array to existing consolidated metadata. Local. Throws
/// IoError.
void tell_groups(const std::filesystem::path& store, const std::string& name, const ZarrMetadata& metadata,
                 const char* op);

/// Returns the format of the group in a directory, 2 or 3; 0 if there is none.
[[nodiscard]] int format_of_group(const std::filesystem::path& directory, const char* op);

}  // namespace heatpp::io::detail
