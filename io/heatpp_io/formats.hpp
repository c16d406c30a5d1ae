#pragma once

#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io {

/// Loads an array. The content of the first file determines the format, also if the name has another extension (HDF5 as
/// .nxs, .mat, .he5). If the content does not identify the format, the extension does: .h5, .hdf5 (load_hdf5), .npy,
/// .npz, .csv, .nc, .nc4 (load_netcdf), .safetensors, .zarr. `options.dataset` names the array in formats with names.
/// Throws IoError for web addresses and known formats that are not read, with advice; ValueError for an unknown
/// extension and a dataset in other formats; else as the format's function. Collective.
[[nodiscard]] DNDarray load(const Source& source, const LoadOptions& options = {});

/// Saves an array in the format of the extension, as load, or .vtkhdf (save_vtkhdf). Throws as load, and ValueError for
/// options that the format does not have. Collective.
void save(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::io
