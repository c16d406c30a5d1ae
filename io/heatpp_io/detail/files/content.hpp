#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io::detail {

/// The ending that files of this content have, with its dot: .h5, .nc, .npy, .npz, .safetensors, .zarr, .mtx, .mtx.gz.
/// netCDF-4, which is HDF5 inside, is .nc where its name ends so. Empty for what the content does not tell, as of CSV.
/// Local.
[[nodiscard]] std::string ending_by_content(const std::filesystem::path& path);

/// Throws IoError naming `op` for what is known not to be read, with what to do instead: addresses of the net, and
/// files of other formats. Local.
void check_is_read(const std::string& name, const char* op);

/// The ending by the content of the first file, or else that of its name in lower case. Rank 0 looks. Collective.
/// Throws on all ranks what check_is_read throws.
[[nodiscard]] std::string ending_of(const Source& source, const Communicator& comm, const char* op);

}  // namespace heatpp::io::detail
