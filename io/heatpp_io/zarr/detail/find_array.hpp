#pragma once

#include <heatpp_io/zarr/detail/store_files.hpp>

namespace heatpp::io::detail {

/// Where the metadata of an array lies.
struct FoundArray {
  std::shared_ptr<const StoreFiles> files;
  std::string name;      ///< of the array's directory in the store
  std::string metadata;  ///< the file with it, in the store
  [[nodiscard]] std::string shown() const { return files->shown(metadata); }
};

/// The array `name` of a store, or of a group in it, at `path`; without a name the one that is there, or the only one
/// in the group, or else below it. Throws IoError where there is none, or several.
[[nodiscard]] FoundArray find_array(const std::string& path, const std::string& name, const char* op);

/// The names of all arrays at a place and below it, "" for the place itself. Local.
[[nodiscard]] std::vector<std::string> array_names(const StorePlace& place, const char* op);

/// The file with the metadata of the array in a directory of a store; empty where there is none. Throws IoError.
[[nodiscard]] std::string metadata_in(const StoreFiles& files, const std::string& directory, const char* op);

/// The store of a path, up to the last name that ends in ".zarr" or ".zip" as a directory or file does, and the name
/// of an array in it: "x.zarr/t" is "t" of "x.zarr". Without an end of this kind the path is the store.
struct StorePath {
  std::string store;
  std::string name;
};
[[nodiscard]] StorePath store_path(const std::string& path, const std::string& name);

}  // namespace heatpp::io::detail
