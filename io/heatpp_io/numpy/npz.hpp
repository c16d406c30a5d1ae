#pragma once

#include <heatpp_io/hdf5/load_hdf5.hpp>

namespace heatpp::io {

/// Loads the array `name` of a file in NPZ format, as numpy.savez and savez_compressed write it, or joins the arrays of
/// that name of many files along axis 0, as load_npy. An empty name means the only array of the file.
///
/// Stored members are read in parallel as by load_npy; their checksums, which cover whole members, are not
/// compared. Deflated ones can only be decompressed from their beginning: each rank does so up to the end of its
/// part, and keeps only its part. Collective. Throws as load_npy, and IoError for damaged archives and other
/// compressions.
[[nodiscard]] DNDarray load_npz(const Source& source, const std::string& name, const LoadOptions& options = {});

/// Returns the names of the arrays in an NPZ file. Collective over the default communicator. Throws IoError.
[[nodiscard]] std::vector<std::string> npz_names(const std::filesystem::path& path);

/// An array and its name in a file.
using NamedArray = std::pair<std::string, DNDarray>;
/// How they are stored.
struct SaveNpzOptions {
  std::optional<int> compression = std::nullopt;                ///< deflate level, 0 to 9; nullopt: not compressed
  std::vector<std::pair<std::string, std::string>> texts = {};  ///< names and texts in ASCII, besides the arrays
  bool uint64 = false;  ///< store int64 elements as the uint64 numbers with the same bits
};
/// Writes arrays of any layouts to one file in NPZ format, stored (numpy.savez) or compressed (savez_compressed), in
/// parallel as save_npy; the checksums of the format need one pass over the elements. Every rank compresses its rows,
/// keeps them until all ranks know their sizes, and writes them. Collective. Throws on all ranks: IoError as save_npy,
/// ValueError for an empty list, for empty or repeated names and a wrong level, CommError for arrays on different
/// communicators.
void save_npz(const std::vector<NamedArray>& arrays, const std::filesystem::path& path,
              const SaveNpzOptions& options = {});

}  // namespace heatpp::io
