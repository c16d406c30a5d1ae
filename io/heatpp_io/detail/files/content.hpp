#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io::detail {

/// Returns the extension of files with this content, with its dot: .h5, .nc, .npy, .npz, .safetensors, .zarr, .mtx,
/// .mtx.gz. netCDF-4, which is HDF5 inside, is .nc if its name has such an extension. Returns "" if the content does
/// not identify the format, as for CSV. Local.
[[nodiscard]] std::string ending_by_content(const std::filesystem::path& path);

/// Throws IoError naming `op` for web addresses and files of other known formats. The error says what to do instead.
/// Local.
void check_is_read(const std::string& name, const char* op);

/// Returns the extension for the content of the first file, or else that of its name in lower case. Rank 0 looks.
/// Collective. Throws as check_is_read on all ranks.
[[nodiscard]] std::string ending_of(const Source& source, const Communicator& comm, const char* op);

}  // namespace heatpp::io::detail
