#pragma once

#include <heatpp_io/hdf5/load_hdf5.hpp>

namespace heatpp::io {

/// The array `name` of one file in NPZ format, as numpy.savez and savez_compressed write it, or the arrays of that name
/// of many files put together along axis 0, as load_npy does. An empty name means the only array of the file.
///
/// Members that are stored are read in parallel as those of load_npy, and not compared with their checksums, which are
/// of whole members. Deflated ones can only be decompressed from their beginning: each rank does so up to the end of
/// its part, without keeping more than that. Collective. Throws as load_npy does, and IoError for damaged archives and
/// other compressions.
[[nodiscard]] DNDarray load_npz(const Source& source, const std::string& name, const LoadOptions& options = {});

/// The names of the arrays in a file in NPZ format. Collective over the default communicator. Throws IoError.
[[nodiscard]] std::vector<std::string> npz_names(const std::filesystem::path& path);

/// An array and its name in a file.
using NamedArray = std::pair<std::string, DNDarray>;
/// How they are stored.
struct SaveNpzOptions {
  std::optional<int> compression = std::nullopt;                ///< deflate level, 0 to 9; nullopt: as they are
  std::vector<std::pair<std::string, std::string>> texts = {};  ///< names and texts of ASCII, beside the arrays
};
/// Writes arrays, any layouts, to one file in NPZ format, as they are (numpy.savez) or compressed (savez_compressed),
/// in parallel as save_npy does; the checksums that the format wants cost one pass over the elements. Every rank
/// compresses its rows, keeps them until all know how long they are, and writes them. Collective. Throws on all ranks:
/// IoError as save_npy, ValueError for an empty list, for names that are empty or come twice and another level,
/// CommError for arrays on different communicators.
void save_npz(const std::vector<NamedArray>& arrays, const std::filesystem::path& path,
              const SaveNpzOptions& options = {});

}  // namespace heatpp::io
