#pragma once

#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io {

/// Loads an array in the format that the first file's content tells, whatever it is called (HDF5 as .nxs, .mat, .he5),
/// or else its extension: .h5, .hdf5 (load_hdf5), .npy, .npz, .csv, .nc, .nc4 (load_netcdf), .safetensors, .zarr.
/// `options.dataset` is the name of the array in formats that have names. Throws IoError for addresses of the net and
/// files of formats that are known and not read, which says what to do; ValueError for an unknown extension and for a
/// dataset in the others, and what the format's own function throws. Collective.
[[nodiscard]] DNDarray load(const Source& source, const LoadOptions& options = {});

/// Saves an array in the format that the extension names, those of load and .vtkhdf (save_vtkhdf). Errors as load, and
/// ValueError for options that the format has not. Collective.
void save(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::io
