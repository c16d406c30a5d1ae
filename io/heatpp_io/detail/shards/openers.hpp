#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/shards/shard_reader.hpp>

namespace heatpp::io::detail {

/// Opens an array of a file on this rank only. An empty name means the only array of the file. Throws IoError and
/// ValueError as the load function of the format.
[[nodiscard]] OpenArray open_hdf5(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_netcdf(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_npy(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_npz(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_safetensors(const std::string& path, const std::string& name);
[[nodiscard]] OpenArray open_zarr(const std::string& path, const std::string& name);

/// Returns the names of all arrays of a file, including those whose elements are not numbers; "" in formats without
/// names. Local. Throws IoError.
[[nodiscard]] std::vector<std::string> hdf5_names(const std::string& path);
[[nodiscard]] std::vector<std::string> netcdf_names(const std::string& path);
[[nodiscard]] std::vector<std::string> npy_names(const std::string& path);
[[nodiscard]] std::vector<std::string> npz_names(const std::string& path);
[[nodiscard]] std::vector<std::string> safetensors_names(const std::string& path);
[[nodiscard]] std::vector<std::string> zarr_names(const std::string& path);

/// Returns what the file says about an array, besides its elements. Local. Throws IoError.
[[nodiscard]] Annotations hdf5_annotations(const std::string& path, const std::string& name);
[[nodiscard]] Annotations netcdf_annotations(const std::string& path, const std::string& name);
[[nodiscard]] Annotations zarr_annotations(const std::string& path, const std::string& name);

}  // namespace heatpp::io::detail
