#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/shards/shard_reader.hpp>

namespace heatpp::io::detail {

/// An array of a file, opened by this rank alone. An empty name means the only one of the file. Throws IoError and
/// ValueError as the format's load does.
[[nodiscard]] OpenArray open_hdf5(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_netcdf(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_npy(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_npz(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_safetensors(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_zarr(const std::string& path, const std::string& name);

/// The names of all arrays of a file, those of other elements than numbers among them; "" where arrays have no names.
/// Local. Throws IoError.
[[nodiscard]] std::vector<std::string> hdf5_names(const std::string& path);
[[nodiscard]] std::vector<std::string> netcdf_names(const std::string& path);
[[nodiscard]] std::vector<std::string> npy_names(const std::string& path);
[[nodiscard]] std::vector<std::string> npz_names(const std::string& path);
[[nodiscard]] std::vector<std::string> safetensors_names(const std::string& path);
[[nodiscard]] std::vector<std::string> zarr_names(const std::string& path);

/// What the file says of an array beside its elements. Local. Throws IoError.
[[nodiscard]] Annotations hdf5_annotations(const std::string& path, const std::string& name);
[[nodiscard]] Annotations netcdf_annotations(const std::string& path, const std::string& name);
[[nodiscard]] Annotations zarr_annotations(const std::string& path, const std::string& name);

}  // namespace heatpp::io::detail
