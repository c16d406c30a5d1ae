#pragma once

#include <heatpp_io/zarr/detail/store_files.hpp>

namespace heatpp::io::detail {

/// The place of an array's metadata.
struct FoundArray {
  std::shared_ptr<const StoreFiles> files;
  std::string name;      ///< name of the array's directory in the store
  std::string metadata;  ///< file with the metadata, in the store
  [[nodiscard]] std::string shown() const { return files->shown(metadata); }
};

/// Finds the array `name` at `path`, in a store or in a group in it. Without a name: the array at `path`, the only one
/// in the group, or else the only one below it. Throws IoError if there is none, or several.
[[nodiscard]] FoundArray find_array(const std::string& path, const std::string& name, const char* op);

/// Returns the names of all arrays at a place and below it, "" for the place itself. Local.
[[nodiscard]] std::vector<std::string> array_names(const StorePlace& place, const char* op);

/// Returns the file with the metadata of an array in a directory of a store, or "". Throws IoError.
[[nodiscard]] std::string metadata_in(const StoreFiles& files, const std::string& directory, const char* op);

/// A path split into the store, up to the last name of a directory or file that ends in ".zarr" or ".zip", and the name
/// of an array in it: "x.zarr/t" is "t" of "x.zarr". If no name ends like this, the path is the store.
struct StorePath {
  std::string store;
  std::string name;
};
[[nodiscard]] StorePath store_path(const std::string& path, const std::string& name);

}  // namespace heatpp::io::detail
