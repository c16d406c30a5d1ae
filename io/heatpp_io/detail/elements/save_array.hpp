#pragma once

#include <heatpp/core/detail/alike.hpp>
#include <heatpp_io/detail/elements/record.hpp>
#include <heatpp_io/detail/elements/rows.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io::detail {

/// A file that is written under a temporary name, and its name in errors.
struct SaveJob {
  const char* op;
  std::string path;   ///< path of the temporary file
  std::string shown;  ///< final path
};

/// What a file is made of.
struct NewFile {
  const char* op;
  const Communicator& comm;
  const std::filesystem::path& path;
  std::int64_t bytes;  ///< bytes of all elements, for which the disk needs room
  AsideFile::Begin begin = AsideFile::Begin::empty;
};

/// Makes one file with all ranks. Rank 0 creates it under a temporary name; `write` fills it on all ranks, and throws
/// on all or none; then the file is moved to its name. Collective. Throws IoError.
Transfer save_one(const NewFile& file, const std::function<Transfer(const SaveJob&)>& write);

/// Makes one file for each rank under the names of detail::shard_names. `write` fills each with the rank's rows. All
/// files are moved to their names, or none. Collective.
Transfer save_shards(const NewFile& file, const DNDarray& x, const std::string& extension,
                     const std::function<void(const SaveJob&, const at::Tensor& rows)>& write);

/// Throws IoError on all ranks if a rank does not see the file that rank 0 has made or found. Collective.
void check_visible(const std::string& path, const char* op, const Communicator& comm);

[[nodiscard]] std::int64_t bytes_of(const DNDarray& x);
[[nodiscard]] std::int64_t bytes_of(const Shape& shape, Dtype dtype);

/// Returns the settings of a file to write that must be equal on all ranks.
[[nodiscard]] std::vector<heatpp::detail::Setting> settings_of(const std::filesystem::path& path,
                                                               const SaveOptions& options);

/// Throws ValueError naming `op` if elements are to be stored as uint64 and are not int64.
void check_uint64(bool uint64, Dtype dtype, const char* op);

/// Throws ValueError naming `op` if the extents of chunks do not fit in an array of this shape, or are not below
/// `most`. An empty `chunks` is valid.
void check_chunks(const char* op, const Shape& chunks, const Shape& shape, std::int64_t most);

}  // namespace heatpp::io::detail
